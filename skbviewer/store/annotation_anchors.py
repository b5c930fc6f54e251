# SPDX-License-Identifier: MIT
"""Convert rows of a session to the records of its KBLs that annotations name, and back.

A record is identified by its KBL (`source`) and its ordinal in that file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from sqlalchemy import Connection, func, select

from .column_chunks import unpack
from .sqlalchemy_tables import call, chunk, leg, series

Record = tuple[int, int]  # source, ordinal

_AT_ONCE = 500  # numbers in one statement


def _parts(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for begin in range(0, len(numbers), _AT_ONCE):
        yield numbers[begin : begin + _AT_ONCE]


def record_of_series(db: Connection, number: int) -> Record:
    """Return (source, ordinal) of the record that represents the skb lifetime with id `number`.

    Raises KeyError if there is no such series.
    """
    found = db.execute(
        select(series.c.source, series.c.ordinal).where(series.c.id == number)
    ).one_or_none()
    if found is None:
        raise KeyError(f"no series {number}")
    return int(found.source), int(found.ordinal)


def series_of_record(db: Connection, record: Record) -> int | None:
    """Return the id of the skb lifetime that `record` (source, ordinal) represents, or None."""
    own = (series.c.source == record[0], series.c.ordinal == record[1])
    found = db.execute(select(series.c.id).where(*own)).scalar()
    return None if found is None else int(found)


def records_of_kernel_only(db: Connection, numbers: Sequence[int]) -> list[Record]:
    """Return (source, ordinal) of the records that represent the kernel-only rows K<n>.

    `numbers` are the values of n.

    Numbers that are not the n of a row K<n> are left out.
    """
    found: list[Record] = []
    for part in _parts(numbers):
        wanted = select(series.c.source, series.c.ordinal).where(series.c.kernel_only.in_(part))
        found.extend((int(row[0]), int(row[1])) for row in db.execute(wanted))
    return found


def kernel_only_of_records(db: Connection, source: int, ordinals: Sequence[int]) -> list[int]:
    """Return n of each kernel-only row K<n> that a record of the log `source` represents.

    `ordinals` are the ordinals of these records.

    A record that represents no kernel-only row is left out.
    """
    found: list[int] = []
    for part in _parts(ordinals):
        wanted = select(series.c.kernel_only).where(series.c.ordinal.in_(part))
        rows = db.execute(wanted.where(series.c.source == source, series.c.kernel_only > 0))
        found.extend(int(row[0]) for row in rows)
    return found


def record_of_call(db: Connection, number: int) -> Record:
    """Return (source, ordinal) of the record of the call with id `number`.

    Raises KeyError if there is no such call.
    """
    wanted = select(leg.c.source, call.c.ordinal).select_from(
        call.join(leg, leg.c.id == call.c.leg)
    )
    found = db.execute(wanted.where(call.c.id == number)).one_or_none()
    if found is None:
        raise KeyError(f"no call {number}")
    return int(found.source), int(found.ordinal)


def call_of_record(db: Connection, record: Record) -> int | None:
    """Return the id of the first call with the record `record` (source, ordinal), or None."""
    source, ordinal = record
    joined = call.join(leg, leg.c.id == call.c.leg)
    own = select(func.min(call.c.id)).select_from(joined).where(leg.c.source == source)
    for numbers in _parts(_calls(db, ordinal)):
        found = db.execute(own.where(call.c.id.in_(numbers))).scalar()
        if found is not None:
            return int(found)
    return None


def _calls(db: Connection, ordinal: int) -> list[int]:
    """Return the ids of all calls (of any KBL) whose record has the ordinal `ordinal` in its KBL.

    The column chunks are searched, because there is no index of ordinals.
    """
    c = chunk.c
    wanted = select(c.first, c.count, c.dtype, c.low, c.data).order_by(c.first)
    wanted = wanted.where(c.table_name == "call", c.column_name == call.c.ordinal.name)
    found: list[int] = []
    for first, count, dtype, low, data in db.execute(
        wanted.where(c.low <= ordinal, c.high >= ordinal)
    ):
        values = np.empty(count, np.int64)
        unpack(dtype, low, data, values)
        found.extend((np.flatnonzero(values == ordinal) + first + 1).tolist())
    return found

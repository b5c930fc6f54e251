# SPDX-License-Identifier: MIT
"""From rows of a session to records of its KBLs and back: what annotations are kept by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, func, select

from .schema import call, leg, record, series

_AT_ONCE = 500  # numbers in one statement


def _parts(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for begin in range(0, len(numbers), _AT_ONCE):
        yield numbers[begin : begin + _AT_ONCE]


def record_of_series(db: Connection, number: int) -> int:
    """The record that shows a packet life best, else its first.  Raises KeyError."""
    found = db.execute(select(series.c.record).where(series.c.id == number)).scalar()
    if found is None:
        raise KeyError(f"no series {number}")
    return int(found)


def series_of_record(db: Connection, number: int) -> int | None:
    found = db.execute(select(record.c.series).where(record.c.id == number)).scalar()
    return found if found is not None and found > 0 else None


def records_of_kernel_only(db: Connection, numbers: Sequence[int]) -> list[int]:
    """The records that stand for rows K<n>; unknown rows are left out."""
    found: list[int] = []
    for part in _parts(numbers):
        wanted = select(series.c.record).where(series.c.kernel_only.in_(part))
        found.extend(int(row[0]) for row in db.execute(wanted))
    return found


def kernel_only_of_records(db: Connection, records: Sequence[int]) -> list[int]:
    """The n of the rows K<n> that records belong to; those of no such row are left out."""
    found: list[int] = []
    for part in _parts(records):
        joined = record.join(series, series.c.id == record.c.series)
        wanted = select(series.c.kernel_only).select_from(joined)
        rows = db.execute(wanted.where(record.c.id.in_(part), series.c.kernel_only > 0))
        found.extend(int(row[0]) for row in rows)
    return found


def record_of_call(db: Connection, number: int) -> int:
    """The entry's record of a call.  Raises KeyError."""
    found = db.execute(select(call.c.entry).where(call.c.id == number)).scalar()
    if found is None:
        raise KeyError(f"no call {number}")
    return int(found)


def call_of_record(db: Connection, number: int) -> int | None:
    """The first call whose entry a record is."""
    own = select(record.c.series).where(record.c.id == number).scalar_subquery()
    inside = call.join(leg, leg.c.id == call.c.leg)
    wanted = select(func.min(call.c.id)).where(call.c.entry == number)
    found = db.execute(wanted.select_from(inside).where(leg.c.series == own)).scalar()
    if found is None:  # joined by its socket: of no packet life of its own
        found = db.execute(wanted).scalar()
    return None if found is None else int(found)

# SPDX-License-Identifier: MIT
"""The comments that carry the kernel fields, for blocks of packets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...analysis.fields.all_fields import Field
from ...analysis.fields.field_data import Array, Data
from ...analysis.fields.field_kind import Kind, Values
from ...records.types import Bools, Int64s, UInt8s
from ..pseudonyms import Pseudonyms
from .byte_copies import AHEAD, Buffer
from .comment_format import FIRST_FIELDS, OTHER_FIELDS, PREFIX, encoded
from .field_rows import FieldRows, Owned
from .text_loops import (
    ADDRESS4,
    ADDRESS6,
    HEXADECIMAL,
    NUMBER,
    TEXT,
    WIDTHS,
    join_fields,
    write_values,
)

FORMS = {Kind.KERNEL: HEXADECIMAL, Kind.IPV4: ADDRESS4, Kind.IPV6: ADDRESS6}
FORMS |= {Kind.STRING: TEXT, Kind.FLOAT: TEXT}
NOTHING = np.zeros(0, np.uint8)
SPARE = np.zeros(AHEAD, np.uint8)


class Texts(NamedTuple):
    """A text for each packet: that of packet i is data[ends[i] : ends[i + 1]].

    `data` has AHEAD more bytes, or more.
    """

    data: UInt8s
    ends: Int64s


class _Column(NamedTuple):
    """The values of one field by packet, as they are in the comment."""

    name: bytes  # what is written before them
    texts: Texts
    values: Int64s  # number of values of each packet


def texts_of(parts: list[bytes]) -> Texts:
    """Return byte strings as Texts."""
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return Texts(np.frombuffer(b"".join(parts) + bytes(AHEAD), np.uint8), ends)


class Comments:
    """Makes the comments of packets of one session."""

    def __init__(self, data: Data, names: Pseudonyms | None = None) -> None:
        self._rows, self._names = FieldRows(data), names
        self._buffers = [[Buffer() for _ in range(4)] for _ in range(2)]

    def of(self, packets: Int64s) -> tuple[Texts, Texts]:
        """Return the first and the other comments of packets, numbers from 1 in ascending order.

        A packet without other fields has "" as the other comment.  The next call overwrites them.
        """
        owned: dict[str, Owned] = {}

        def columns(fields: Sequence[Field]) -> list[_Column]:
            for table in {field.table for field in fields} - owned.keys():
                owned[table] = self._rows.of(packets, table)
            return [_column(field, owned[field.table], self._names) for field in fields]

        first, others = columns(FIRST_FIELDS), columns(OTHER_FIELDS)
        has_others = np.any([column.values > 0 for column in others], axis=0).astype(np.int64)
        starts = np.ones(len(packets), np.int64), has_others
        return (
            _joined([_start(starts[0]), *first], self._buffers[0]),
            _joined([_start(starts[1]), *others], self._buffers[1]),
        )


def _joined(columns: list[_Column], buffers: Sequence[Buffer]) -> Texts:
    packets = len(columns[0].values)
    names = texts_of([column.name for column in columns])
    made, joined, places, counts = buffers
    size = np.array([len(column.texts.data) for column in columns])
    values = joined.of(int(size.sum()) + AHEAD)
    np.concatenate([*(column.texts.data for column in columns), SPARE], out=values)
    value_ends = _table(places, [column.texts.ends for column in columns])
    value_ends += (np.cumsum(size) - size)[:, None]
    count = _table(counts, [column.values for column in columns])
    out = made.of(len(values) + len(names.data) * packets)
    ends = np.empty(packets + 1, np.int64)
    join_fields(*names, values, value_ends, count, out, ends)
    return Texts(out, ends)


def _table(buffer: Buffer, rows: list[Int64s]) -> Int64s:
    shape = len(rows), len(rows[0])
    table = buffer.of(8 * shape[0] * shape[1]).view(np.int64).reshape(shape)
    return np.stack(rows, out=table)


def _start(begun: Int64s) -> _Column:
    """The prefix, as a column of the packets for which `begun` is 1."""
    return _Column(PREFIX, Texts(NOTHING, np.zeros(len(begun) + 1, np.int64)), begun)


def _column(field: Field, owned: Owned, names: Pseudonyms | None) -> _Column:
    """Return the values of `field`; a field without rows is not asked for them."""
    found = field.make(owned.view) if owned.view.size else []
    known = _side_by_side([values.present() for values in found], np.bool_).astype(np.bool_)
    bounds = owned.bounds * max(len(found), 1)
    if field.kind is Kind.LABEL:
        hits = np.r_[0, np.cumsum(known, dtype=np.int64)]
        nothing = Texts(NOTHING, np.zeros(len(bounds), np.int64))
        return _Column(f" {field.name}".encode(), nothing, hits[bounds[1:]] - hits[bounds[:-1]])
    low, texts = _numbers_and_texts(field, found, known)
    high = np.zeros(len(low), np.int64)
    if field.kind is Kind.IPV6 and found:
        high = _side_by_side([v.high for v in found if v.high is not None], np.int64)
    if names is not None and field.kind is Kind.IPV4:
        low = names.ipv4(low)
    elif names is not None and field.kind is Kind.IPV6:
        high, low = names.ipv6(high, low)
    form = FORMS.get(field.kind, NUMBER)
    width = int(np.diff(texts.ends).max(initial=0)) if form == TEXT else WIDTHS[form]
    out = np.empty((width + 1) * len(low) + AHEAD, np.uint8)
    ends, count = np.zeros(len(bounds), np.int64), np.zeros(len(bounds) - 1, np.int64)
    write_values(form, bounds, low, high, known, *texts, out, ends, count)
    return _Column(f" {field.name}=".encode(), Texts(out[: ends[-1]], ends), count)


def _side_by_side(arrays: Sequence[Array], dtype: type) -> Array:
    """Values that stand for the same rows, one after the other in each row."""
    if len(arrays) == 1:
        return np.ascontiguousarray(arrays[0], dtype)
    if not arrays:
        return np.zeros(0, dtype)
    return np.stack([np.asarray(a, dtype) for a in arrays], 1).ravel()


def _numbers_and_texts(field: Field, found: list[Values], known: Bools) -> tuple[Int64s, Texts]:
    """Return the values as numbers; of a TEXT, these are indices of the texts."""
    if field.kind is Kind.FLOAT:
        low = _side_by_side([values.low for values in found], np.float64)
        distinct, codes = np.unique(low, return_inverse=True)
        return codes.astype(np.int64), texts_of([repr(float(x)).encode() for x in distinct])
    if field.kind is not Kind.STRING:
        return _side_by_side([values.low for values in found], np.int64), texts_of([])
    parts: list[str] = []
    numbers: list[Int64s] = []
    for values in found:
        texts = list(values.texts or ())
        numbers.append(np.asarray(values.low, np.int64) + len(parts))
        parts += texts
    low = _side_by_side(numbers, np.int64)
    used = np.zeros(len(parts) + 1, np.bool_)
    used[low[known]] = True
    written = [encoded(text) if used[n] else b"" for n, text in enumerate(parts)]
    return low, texts_of(written)

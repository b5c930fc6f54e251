# SPDX-License-Identifier: MIT
"""The comments that carry the kernel fields, for blocks of packets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...analysis.fields.all_fields import Field
from ...analysis.fields.field_data import PACKET, Array, Data
from ...analysis.fields.field_kind import Kind, Values
from ...records.types import Bools, Int64s, UInt8s
from ..pseudonyms import Pseudonyms
from .byte_copies import AHEAD, Buffer
from .comment_format import FIRST_FIELDS, OTHER_FIELDS, PREFIX, percent_encoded, short_name
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
NAME_ALONE = -1  # the form of a label
SHORT = 64  # bytes of a text; pages of a buffer that are not written cost nothing
FEW = 8  # distinct numbers


class Texts(NamedTuple):
    """A text for each packet: that of packet i is data[ends[i] : ends[i + 1]].

    After the last text, `data` has at least AHEAD bytes more.
    """

    data: UInt8s
    ends: Int64s


class _Column(NamedTuple):
    """The values of one field: packet i has the rows bounds[i] .. bounds[i + 1] - 1."""

    name: bytes  # what is written before them
    form: int  # of write_values(); NAME_ALONE has no values
    bounds: Int64s
    low: Int64s
    high: Int64s
    known: Bools
    texts: Texts

    def most(self) -> int:
        """Return how many bytes the values need at most, with a comma after each."""
        if self.form == NAME_ALONE:
            return 0
        if self.form != TEXT:
            return (WIDTHS[self.form] + 1) * len(self.low)
        sizes = np.diff(self.texts.ends)
        longest = int(sizes.max(initial=0))
        if longest > SHORT:  # one long text must not make all of the buffer long
            return int(sizes[self.low[self.known]].sum()) + len(self.low)
        return (longest + 1) * len(self.low)


def texts_of(parts: list[bytes]) -> Texts:
    """Return byte strings as Texts."""
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return Texts(np.frombuffer(b"".join(parts) + bytes(AHEAD), np.uint8), ends)


NO_TEXTS = texts_of([])


class Comments:
    """Makes the comments of packets, or skb lifetimes, of one session."""

    def __init__(self, data: Data, names: Pseudonyms | None = None, of: str = PACKET) -> None:
        """Make comments of packets, or of skb lifetimes if `of` is SERIES.

        With `names`, addresses are replaced.
        """
        self._rows, self._names = FieldRows(data, of), names
        self._buffers = [[Buffer() for _ in range(4)] for _ in range(2)]

    def of(self, packets: Int64s) -> tuple[Texts, Texts]:
        """Return the first and the second comments of packets, numbers from 1 in ascending order.

        A packet without fields for a second comment has "" there. The next call overwrites both.
        """
        owned: dict[str, Owned] = {}

        def columns(fields: Sequence[Field]) -> list[_Column]:
            for table in {field.table for field in fields} - owned.keys():
                owned[table] = self._rows.of(packets, table)
            return [_column(field, owned[field.table], self._names) for field in fields]

        count = len(packets)
        first = _joined(columns(FIRST_FIELDS), count, self._buffers[0], always=True)
        return first, _joined(columns(OTHER_FIELDS), count, self._buffers[1], always=False)


def _joined(columns: list[_Column], packets: int, buffers: Sequence[Buffer], always: bool) -> Texts:
    """Return PREFIX and the fields of each packet; "" if it has none, unless `always`."""
    made, written, places, counts = buffers
    names = texts_of([PREFIX, *(column.name for column in columns)])
    values = written.of(sum(column.most() for column in columns) + AHEAD)
    value_ends = _table(places, len(columns) + 1, packets + 1)
    count = _table(counts, len(columns) + 1, packets)
    value_ends[0] = 0  # PREFIX has no value
    for number, column in enumerate(columns, 1):
        value_ends[number, 0] = value_ends[number - 1, -1]
        _write(column, values, value_ends[number], count[number])
    count[0] = True if always else count[1:].any(0)
    out = made.of(int(value_ends[-1, -1]) + len(names.data) * packets + AHEAD)
    ends = np.empty(packets + 1, np.int64)
    join_fields(*names, values, value_ends, count, out, ends)
    return Texts(out, ends)


def _write(column: _Column, out: UInt8s, ends: Int64s, count: Int64s) -> None:
    """Write the values of each packet to `out`, from ends[0]."""
    bounds, known = column.bounds, column.known
    if column.form == NAME_ALONE:
        hits = np.r_[0, np.cumsum(known, dtype=np.int64)]
        ends[:], count[:] = ends[0], hits[bounds[1:]] - hits[bounds[:-1]]
    else:
        values = column.low, column.high, known, *column.texts
        write_values(column.form, bounds, *values, out, ends, count)


def _table(buffer: Buffer, rows: int, columns: int) -> Int64s:
    return buffer.of(8 * rows * columns).view(np.int64).reshape(rows, columns)


def _column(field: Field, owned: Owned, names: Pseudonyms | None) -> _Column:
    """Return the values of `field`. Without rows, they are not computed."""
    found = field.make(owned.view) if owned.view.size else []
    known = _side_by_side([values.present() for values in found], np.bool_).astype(np.bool_)
    bounds = owned.bounds * max(len(found), 1)
    name = f" {short_name(field)}".encode()
    if field.kind is Kind.LABEL:
        none = np.zeros(0, np.int64)
        return _Column(name, NAME_ALONE, bounds, none, none, known, NO_TEXTS)
    low, texts = _numbers_and_texts(field, found, known)
    high = np.zeros(len(low), np.int64)
    if field.kind is Kind.IPV6 and found:
        high = _side_by_side([v.high for v in found if v.high is not None], np.int64)
    if names is not None and field.kind is Kind.IPV4:
        low = names.ipv4(low)
    elif names is not None and field.kind is Kind.IPV6:
        high, low = names.ipv6(high, low)
    form = FORMS.get(field.kind, NUMBER)
    return _Column(name + b"=", form, bounds, low, high, known, texts)


def _side_by_side(arrays: Sequence[Array], dtype: type) -> Array:
    """Return the values of several arrays with the same rows, row by row."""
    if len(arrays) == 1:
        return np.ascontiguousarray(arrays[0], dtype)
    if not arrays:
        return np.zeros(0, dtype)
    return np.stack([np.asarray(a, dtype) for a in arrays], 1).ravel()


def _distinct(numbers: Array) -> tuple[Array, Int64s]:
    """Return the distinct numbers, and for each number its index among them.

    Comparing all with each of a few numbers, as there mostly are, is faster than sorting.
    """
    codes, left, found = np.full(len(numbers), -1, np.int64), len(numbers), list[float]()
    while left and len(found) < FEW:
        number = numbers[np.argmin(codes)]
        same = numbers == number
        if not same[np.argmin(codes)]:  # not a number
            break
        codes[same] = len(found)
        found.append(float(number))
        left -= int(np.count_nonzero(same))
    if not left:
        return np.array(found), codes
    distinct, inverse = np.unique(numbers, return_inverse=True)
    return distinct, inverse.astype(np.int64)


def _numbers_and_texts(field: Field, found: list[Values], known: Bools) -> tuple[Int64s, Texts]:
    """Return the values as numbers; of a TEXT, these are indices of the texts."""
    if field.kind is Kind.FLOAT:
        low = _side_by_side([values.low for values in found], np.float64)
        distinct, codes = _distinct(low)
        return codes, texts_of([repr(float(x)).encode() for x in distinct])
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
    written = [percent_encoded(text) if used[n] else b"" for n, text in enumerate(parts)]
    return low, texts_of(written)

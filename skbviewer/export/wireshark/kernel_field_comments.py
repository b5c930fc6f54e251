# SPDX-License-Identifier: MIT
"""Make the comments that carry the kernel fields, for blocks of packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from ...analysis.fields.all_fields import Field
from ...analysis.fields.field_definition import Kind, Values
from ...analysis.fields.field_source_tables import PACKET, Array, Data, View
from ...records.types import INT64_MAX, Int64s
from ..pseudonyms import Pseudonyms
from .byte_copy_loops import AHEAD, Buffer
from .comment_format import (
    PARTS,
    PREFIX,
    RANGED,
    Part,
    percent_encoded,
    range_name,
    short_name,
)
from .field_rows import FieldRows, Owned
from .field_text_loops import (
    ADDRESS4,
    ADDRESS6,
    FIRST,
    FIRST_TEXT,
    FORM,
    HEXADECIMAL,
    NAME,
    NAME_ALONE,
    NAME_END,
    NUMBER,
    TABLE,
    TEXT,
    WIDTHS,
    Column,
    Texts,
    write_comments,
)

FORMS = {Kind.KERNEL: HEXADECIMAL, Kind.IPV4: ADDRESS4, Kind.IPV6: ADDRESS6}
FORMS |= {Kind.STRING: TEXT, Kind.FLOAT: TEXT, Kind.LABEL: NAME_ALONE}
SHORT = 64  # bytes of a text; pages of a buffer that are not written cost nothing
FEW = 8  # distinct numbers


def texts_of(parts: list[bytes]) -> Texts:
    """Join byte strings, one per packet, into one Texts."""
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return Texts(np.frombuffer(b"".join(parts) + bytes(AHEAD), np.uint8), ends)


class Comments:
    """Makes the comments of packets, or of skb lifetimes, of one session."""

    def __init__(self, data: Data, names: Pseudonyms | None = None, of: str = PACKET) -> None:
        """Make comments of packets or, if `of` is SERIES, of skb lifetimes."""
        self._rows = FieldRows(data, of)
        first, *others = PARTS
        self._written = [_Written(first, names, RANGED)]
        self._written += [_Written(part, names) for part in others]
        self._tables = dict.fromkeys(field.table for part in PARTS for field in part.fields)

    def of(self, packets: Int64s) -> list[Texts]:
        """Return the comments of packets (numbers from 1, ascending), one result for each part.

        If a packet has no field of a part, the part's text is "", except in the first part. The
        next call overwrites all.
        """
        owned = {table: self._rows.of(packets, table) for table in self._tables}
        return [part.of(owned, len(packets)) for part in self._written]


class _Written:
    """Writes one of the comments of each packet, block by block."""

    def __init__(self, part: Part, names: Pseudonyms | None, ranged: Sequence[Field] = ()) -> None:
        """`ranged` are the fields whose least and greatest values are written as well.

        In the first part, even a packet without any of the fields has a comment.
        """
        self._fields, self._names, self._ranged = part.fields, names, tuple(ranged)
        self._always = not part.name
        self._tables = tuple(dict.fromkeys(field.table for field in part.fields))
        prefix = PREFIX + f" {part.name}".encode() if part.name else PREFIX
        labels = [*map(_label, part.fields), *(f" {range_name(one)}=".encode() for one in ranged)]
        self._labels = texts_of([prefix, *labels])
        self._texts: dict[str, tuple[Sequence[str], Texts]] = {}  # by field: what was encoded last
        self._low, self._high, self._known, self._out = (Buffer() for _ in range(4))

    def of(self, owned: Mapping[str, Owned], count: int) -> Texts:
        """Return the comments of `count` packets; the next call overwrites this result."""
        bounds = [owned[table].bounds for table in self._tables]
        bounds += [np.arange(0, 2 * count + 1, 2)] if self._ranged else []
        sizes = [owned[field.table].view.size for field in self._fields]
        begin = np.cumsum([0, *sizes, *([2 * count] * len(self._ranged))])
        size = int(begin[-1])
        all_rows = Column(
            self._low.of(8 * size).view(np.int64),
            self._high.of(8 * size).view(np.int64),
            self._known.of(size).view(np.bool_),
        )
        columns = [
            Column(all_rows.low[first:end], all_rows.high[first:end], all_rows.known[first:end])
            for first, end in pairwise(begin.tolist())
        ]
        texts, most = [], 0
        for field, column in zip(self._fields, columns, strict=False):
            texts.append(self._fill(column, field, owned[field.table].view))
            most += _most(field, column, texts[-1])
        for field, column in zip(self._ranged, columns[len(self._fields) :], strict=True):
            _fill_range(column, field, owned[field.table])
            texts.append(texts_of([]))
            most += _most(field, column, texts[-1])
        labels = self._labels
        out = self._out.of(most + int(labels.ends[-1]) * count + AHEAD)
        ends = np.empty(count + 1, np.int64)
        write_comments(
            self._described(begin, texts), labels, self._always, np.stack(bounds), all_rows,
            _one_after_the_other(texts), out, ends,
        )  # fmt: skip
        return Texts(out, ends)

    def _described(self, begin: Int64s, texts: Sequence[Texts]) -> Int64s:
        """Return the argument `fields` of write_comments(): rows for all fields and ranges."""
        fields = (*self._fields, *self._ranged)
        tables = [self._tables.index(field.table) for field in self._fields]
        table = np.zeros((len(fields), NAME_END + 1), np.int64)
        table[:, FORM] = [_form(field) for field in fields]
        table[:, TABLE] = tables + [len(self._tables)] * len(self._ranged)
        table[:, FIRST] = begin[:-1]
        counts = np.cumsum([0, *(len(of_field.ends) - 1 for of_field in texts)])
        table[:, FIRST_TEXT] = np.where(table[:, FORM] == TEXT, counts[:-1], 0)
        table[:, NAME], table[:, NAME_END] = self._labels.ends[1:-1], self._labels.ends[2:]
        return table

    def _fill(self, column: Column, field: Field, view: View) -> Texts:
        """Set the values of a field, and return the texts that the values refer to.

        A field is not read if its table has no rows for the packets.
        """
        if not view.size:
            return texts_of([])
        values = _values(field, view)
        column.known[:] = True if values.known is None else values.known
        if field.kind is Kind.FLOAT:
            distinct, column.low[:] = _distinct(values.low)
            return texts_of([repr(float(x)).encode() for x in distinct])
        column.low[:] = values.low
        if field.kind is Kind.STRING:
            texts = self._encoded(field, values.texts or ())
            column.known[:] &= (column.low >= 0) & (column.low < len(texts.ends) - 1)
            return texts
        self._fill_address(column, field, values)
        return texts_of([])

    def _fill_address(self, column: Column, field: Field, values: Values) -> None:
        """Set the upper halves of IPv6 addresses, and replace addresses with pseudonyms."""
        if values.high is not None:
            column.high[:] = values.high
        if self._names is None:
            return
        if field.kind is Kind.IPV4:
            column.low[:] = self._names.ipv4(column.low)
        elif field.kind is Kind.IPV6:
            column.high[:], column.low[:] = self._names.ipv6(column.high, column.low)

    def _encoded(self, field: Field, texts: Sequence[str]) -> Texts:
        """Return the texts of a field, encoded for comments.

        The result is cached, because most blocks have the same texts as the block before.
        """
        before, made = self._texts.get(field.name, ((), texts_of([])))
        if before is not texts:
            made = texts_of([percent_encoded(text) for text in texts])
            self._texts[field.name] = texts, made
        return made


def _values(field: Field, view: View) -> Values:
    values: Values = view.cached(field.name, lambda one: field.make(one)[0])
    return values


def _fill_range(column: Column, field: Field, owned: Owned) -> None:
    """Fill `column` with each packet's least and greatest known value, in two rows per packet."""
    column.known[:] = False
    has_any = owned.bounds[1:] > owned.bounds[:-1]
    if not np.any(has_any):
        return
    values, begin = _values(field, owned.view), owned.bounds[:-1][has_any]
    low = high = values.low.astype(np.int64, copy=False)
    if values.known is not None:
        low = np.where(values.known, low, INT64_MAX)
        high = np.where(values.known, high, -INT64_MAX)
    least, most = np.minimum.reduceat(low, begin), np.maximum.reduceat(high, begin)
    column.low[::2][has_any], column.low[1::2][has_any] = least, most
    column.known[::2][has_any] = column.known[1::2][has_any] = least <= most


def _label(field: Field) -> bytes:
    """Return the text in front of the values of a field; for a label, that is the whole text."""
    return f" {short_name(field.name)}{'' if field.kind is Kind.LABEL else '='}".encode()


def _form(field: Field) -> int:
    return FORMS.get(field.kind, NUMBER)


def _most(field: Field, column: Column, texts: Texts) -> int:
    """Return how many bytes a field's values may need, with a comma after each value."""
    form, count = _form(field), len(column.low)
    if form == NAME_ALONE:
        return 0
    if form != TEXT:
        return (WIDTHS[form] + 1) * count
    sizes = np.diff(texts.ends)
    longest = int(sizes.max(initial=0))
    if longest > SHORT:  # one long text must not make all of the buffer long
        return int(sizes[column.low[column.known]].sum()) + count
    return (longest + 1) * count


def _one_after_the_other(parts: Sequence[Texts]) -> Texts:
    """Join several Texts into a single one."""
    begin = np.cumsum([0, *(part.ends[-1] for part in parts)])
    data = [part.data[: part.ends[-1]] for part in parts] + [np.zeros(AHEAD, np.uint8)]
    ends = [part.ends[:-1] + at for part, at in zip(parts, begin, strict=False)] + [begin[-1:]]
    return Texts(np.concatenate(data), np.concatenate(ends))


def _distinct(numbers: Array) -> tuple[Array, Int64s]:
    """Return the distinct values of `numbers`, and the index of each number among them.

    There are usually few distinct numbers, so comparing all numbers with each distinct one is
    faster than sorting.
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

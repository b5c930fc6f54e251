# SPDX-License-Identifier: MIT
"""Expressions that compute the values of documented columns from the tables of a session.

Column names are written as in SQL, for example "call.self_ns".  The module view_sql.py translates
the expressions into SQL, and view_blocks.py computes them in arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from ...records.table_columns import TableColumn, TableMeaning


class Stored(NamedTuple):
    """The column as it is stored; the number `unknown` means that the value is missing.

    If `only_if_0` names a column, the value is also missing in rows where that column is not 0.
    """

    column: str
    unknown: int | None = -1
    only_if_0: str = ""


class Text(NamedTuple):
    """A text column of a table that has few rows."""

    column: str


class Word(NamedTuple):
    """A word instead of each number.

    If `words` has no word for a number, the word is `otherwise`, which may be None.
    """

    column: str
    words: Mapping[int, str]
    otherwise: str | None = None


class Hex(NamedTuple):
    """A signed 64-bit number, shown as an unsigned hexadecimal number."""

    column: str


class Address(NamedTuple):
    """An IP address in the columns ip_version, `side`_hi and `side`_lo of `table`."""

    table: str
    side: str


class EventData(NamedTuple):
    """The data of an event, as `kmod/kbl.h` defines it; of other tracers' logs, the lower 32 bits.

    In logs of other tracers, the upper 32 bits are used inside a session: they are the number of
    the event's JSON sections.
    """

    column: str
    source: str  # the column with the log's number


class DropReason(NamedTuple):
    """The kernel's name of a drop reason: the lower 32 bits of a column; below 0 = no drop."""

    column: str
    source: str  # the column with the log's number


class DropPlace(NamedTuple):
    """The symbol at an offset from _stext: the upper 32 bits of a column; 0 = unknown."""

    column: str
    source: str


Value: TypeAlias = Stored | Text | Word | Hex | Address | EventData | DropReason | DropPlace


class Join(NamedTuple):
    """The row of another table (or none) that belongs to each row of the view.

    `keys` are pairs of columns with equal values: a column of the other table, and one of the
    view's tables.
    """

    table: str
    keys: tuple[tuple[str, str], ...]


class ViewColumn(NamedTuple):
    """A documented column, and the expression for its value."""

    meaning: TableColumn
    value: Value


class View(NamedTuple):
    """A documented table with a row for each row of `base`; no join adds or removes rows."""

    name: str
    meaning: str
    base: str
    joins: tuple[Join, ...]
    columns: tuple[ViewColumn, ...]
    where: tuple[str, int] | None = None  # only rows in which this column has this number
    chosen_by: tuple[str, str] | None = None  # "packet", "leg" or "series", and the column with it

    @property
    def described(self) -> TableMeaning:
        """Return name, meaning and columns of the table, without the expressions."""
        return TableMeaning(self.name, self.meaning, tuple(c.meaning for c in self.columns))


def table_of(column: str) -> str:
    """Return the table in a column's full name: "call" for "call.self_ns"."""
    return column.partition(".")[0]


def inputs(value: Value) -> tuple[str, ...]:
    """Return the full names of the stored columns from which `value` is computed."""
    match value:
        case Address(table, side):
            return (f"{table}.ip_version", f"{table}.{side}_hi", f"{table}.{side}_lo")
        case Stored(column, _, only_if_0) if only_if_0:
            return (column, only_if_0)
        case DropReason(column, source) | DropPlace(column, source) | EventData(column, source):
            return (column, source)
        case _:
            return (value.column,)

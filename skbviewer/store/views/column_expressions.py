# SPDX-License-Identifier: MIT
"""Expressions that compute the values of documented columns from the tables of a session.

Columns of tables are written as in SQL: "call.self_ns". view_sql.py translates these expressions
into SQL, view_blocks.py computes them in arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from ...records.table_columns import TableColumn, TableMeaning


class Stored(NamedTuple):
    """The column as it is stored; the number `unknown` stands for a missing value.

    If `only_if_0` names a column, a value is also missing where that column is not 0.
    """

    column: str
    unknown: int | None = -1
    only_if_0: str = ""


class Text(NamedTuple):
    """A text of a table that has few rows."""

    column: str


class Word(NamedTuple):
    """A word for each number.  A number that `words` lacks has the word `otherwise`, or none."""

    column: str
    words: Mapping[int, str]
    otherwise: str | None = None


class Hex(NamedTuple):
    """A signed 64-bit number as an unsigned hexadecimal one."""

    column: str


class Address(NamedTuple):
    """An IP address: `table` has the columns ip_version, `side`_hi and `side`_lo."""

    table: str
    side: str


class EventData(NamedTuple):
    """An event's data as `kmod/kbl.h` defines it; in logs of other tracers, only the lower 32 bits.

    In these logs, the upper 32 bits are the number of the event's sections, which the session uses.
    """

    column: str
    source: str  # the column with the log's number


class DropReason(NamedTuple):
    """The kernel's name of the reason in the lower 32 bits of a column; below 0 = no drop."""

    column: str
    source: str  # the column with the log's number


class DropPlace(NamedTuple):
    """The symbol at the offset from _stext in the upper 32 bits of a column; 0 = unknown."""

    column: str
    source: str


Value: TypeAlias = Stored | Text | Word | Hex | Address | EventData | DropReason | DropPlace


class Join(NamedTuple):
    """The row of another table, or none, for each row of the view.

    `keys` are pairs: a column of the other table, and the column that has the same value.
    """

    table: str
    keys: tuple[tuple[str, str], ...]


class ViewColumn(NamedTuple):
    """A documented column and its value."""

    meaning: TableColumn
    value: Value


class View(NamedTuple):
    """A documented table, made from the rows of `base`; no join adds or removes rows."""

    name: str
    meaning: str
    base: str
    joins: tuple[Join, ...]
    columns: tuple[ViewColumn, ...]
    where: tuple[str, int] | None = None  # only rows in which this column has this number
    chosen_by: tuple[str, str] | None = None  # "packet", "leg" or "series", and the column with it

    @property
    def described(self) -> TableMeaning:
        """Return name, meaning and columns of the table, without how they are computed."""
        return TableMeaning(self.name, self.meaning, tuple(c.meaning for c in self.columns))


def table_of(column: str) -> str:
    """Return the table of a column: "call" for "call.self_ns"."""
    return column.partition(".")[0]


def inputs(value: Value) -> tuple[str, ...]:
    """Return the names of the stored columns from which `value` is computed."""
    match value:
        case Address(table, side):
            return (f"{table}.ip_version", f"{table}.{side}_hi", f"{table}.{side}_lo")
        case Stored(column, _, only_if_0) if only_if_0:
            return (column, only_if_0)
        case DropReason(column, source) | DropPlace(column, source) | EventData(column, source):
            return (column, source)
        case _:
            return (value.column,)

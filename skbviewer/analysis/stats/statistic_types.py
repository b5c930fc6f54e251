# SPDX-License-Identifier: MIT
"""The types of a statistic: a line of STATISTICS, and the table that it makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..scope import Scope

Row = Mapping[str, Any]  # the values of a row by the table's keys


class Table(NamedTuple):
    """Rows with a value for each of `keys`, and sentences about the rows.

    If a key ends in _ns, its values are times in ns.  None is an unknown value.  `warnings` say
    what may be missing in the table.  `notes` are other sentences about the table.
    """

    keys: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns: the keys, but "count" in place of "number".

        Rows are NamedTuples, and these cannot have a field named `count`.
        """
        return tuple("count" if key == "number" else key for key in self.keys)


class Statistic(NamedTuple):
    """A line of STATISTICS, which describes one statistic.

    `make` raises Cancelled. filter(row) returns the display filter that selects the packets of a
    row, or None if no field identifies them.  `filter` itself is None if no field identifies the
    packets of any row.  `tabs` are values of the first key: the window has a tab for each of them.
    `titles` replace the titles that are made from names of columns.  `seconds` are the times that
    the window shows in seconds.  `title` is the entry in the Statistics menu, and `tip` is the
    tooltip of this entry.
    """

    title: str
    tip: str
    make: Callable[[Scope], Table]
    filter: Callable[[Row], str | None] | None
    tabs: tuple[str, ...] = ()
    titles: Mapping[str, str] = {}
    seconds: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Return the title without the mark of its underlined letter."""
        return self.title.replace("&", "")


def quote_text(text: str) -> str:
    """Return `text` in quotes, as a display filter needs it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

# SPDX-License-Identifier: MIT
"""The types of a statistic: a line of the table STATISTICS, and its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..scope import Scope

Row = Mapping[str, Any]  # the values of a row by the table's keys


class Table(NamedTuple):
    """Rows, each with a value for each of `keys`, and warnings about them.

    Keys that end in _ns are those of times in ns.  None is an unknown value.  `notes` say
    which part of the traffic was recorded.
    """

    keys: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns: the keys, with "count" in place of "number".

        Rows are NamedTuples, which cannot have a field named `count`.
        """
        return tuple("count" if key == "number" else key for key in self.keys)


class Statistic(NamedTuple):
    """A line of STATISTICS.  `title` is the entry of the Statistics menu, `tip` its tooltip.

    `make` raises Cancelled.  `filter` returns the display filter that shows the packets of a row,
    or None if no field identifies them; `filter` itself is None if no field identifies the packets
    of any row.  With `tabs`, the window has one tab for each of these values of the first key.
    `titles` replace titles that are made of a column's name; `seconds` are times that the window
    shows in seconds.
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
        """Return the title without its underlined letter."""
        return self.title.replace("&", "")


def quote_text(text: str) -> str:
    """Quote a text for a display filter."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

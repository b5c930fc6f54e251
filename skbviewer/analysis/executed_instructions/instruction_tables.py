# SPDX-License-Identifier: MIT
"""The tables of `skbviewer stats --steps` that come from the emulator's counts alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...readers.kernel_image.emulator_exception_counts import ExceptionCount
from ..scope import Scope
from ..stats.statistic_types import Table
from .memory_access_tables import FUNCTION, NO_ACCESSES, LinesOfLog, touched_table

INTERRUPT, EXCEPTION = "sysvec_", "exc_"  # names of entries begin so
NO_EXCEPTIONS = "the file has no counts of exceptions, because an older plugin wrote it"


class Counted(NamedTuple):
    """What the emulator counted besides instructions of calls: see CountedSteps of the session."""

    lines: LinesOfLog
    exceptions: Sequence[ExceptionCount]


class CountedTable(NamedTuple):
    """A line of COUNTED_TABLES: `tip` says what the table shows, `by` whether rows have groups."""

    tip: str
    by: bool
    make: Callable[[Scope, Counted, str], Table]


def counted_table(name: str, scope: Scope, counted: Counted, by: str | None) -> Table:
    """Return the table `name` of COUNTED_TABLES, grouped by one of memory_access_tables.GROUPS.

    Raises KeyError, with a message for the user, if the table cannot be grouped.  Raises Cancelled.
    """
    if by is not None and not COUNTED_TABLES[name].by:
        raise KeyError(f"stats: {name} has no --by")
    return COUNTED_TABLES[name].make(scope, counted, by or FUNCTION)


def _touched(name: str) -> Callable[[Scope, Counted, str], Table]:
    def make(scope: Scope, counted: Counted, by: str) -> Table:
        table = touched_table(name, scope, counted.lines, by)
        return table if counted.lines else table._replace(notes=(NO_ACCESSES,))

    return make


def _exceptions(_scope: Scope, counted: Counted, _by: str) -> Table:
    """Return all exceptions during the count, most frequent first, whatever is chosen."""
    rows = [
        (*_named(one.name), one.kernel, one.probes, one.programs, *_durations(one))
        for one in sorted(counted.exceptions, key=lambda one: (-one.total(), one.name))
        if one.total()
    ]
    sides, durations = ("kernel", "probes", "programs"), ("returned", "mean_steps", "longest_steps")
    return Table(
        ("kind", "name", *sides, *durations),
        rows,
        (),
        () if counted.exceptions else (NO_EXCEPTIONS,),
    )


def _durations(one: ExceptionCount) -> tuple[int | None, int | None, int | None]:
    """Return how often an exception returned, and the mean and the longest duration in steps."""
    if not one.returned or one.steps is None:
        return one.returned, None, None
    return one.returned, round(one.steps / one.returned), one.longest


def _named(entry: str) -> tuple[str, str]:
    kind = "interrupt" if entry.startswith(INTERRUPT) else "exception"
    return kind, entry.removeprefix(INTERRUPT).removeprefix(EXCEPTION)


COUNTED_TABLES = {
    "pages": CountedTable("Pages of memory that calls accessed", True, _touched("pages")),
    "lines": CountedTable("Cache lines that calls accessed", True, _touched("lines")),
    "exceptions": CountedTable("Exceptions and interrupts during the count", False, _exceptions),
}

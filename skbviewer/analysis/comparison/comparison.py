# SPDX-License-Identifier: MIT
"""Compare two recordings: how they were made, what was measured in them, and what changed."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event, Thread
from typing import NamedTuple

from ...records import Progress, Silent
from ..stats import Scope
from .estimate_differences import SMALLEST_CHANGE, Difference, differences
from .estimates import PATHS, Estimates, Measure
from .function_estimates import COUNTER
from .path_classes import PathClass
from .reasons_not_comparable import why_unjudged
from .recording_differences import Condition, RecordingConditions, differing_conditions
from .recording_measurements import Amount, Measurements, measure


class Side(NamedTuple):
    """One of two compared recordings: the passes to compare, and how the recording was made.

    `measured` are the measurements of these passes, if they have been made before.
    """

    scope: Scope
    facts: RecordingConditions
    measured: Measurements | None = None


class Comparison(NamedTuple):
    """The result of comparing two recordings.

    `paths` describes the path classes that are named in the rows of section "paths".  `unjudged`
    says why no difference could be judged; it is "" if some were judged.  `tests` is the number of
    differences that were judged.
    """

    conditions: tuple[Condition, ...]
    amounts: tuple[Amount, Amount]
    rows: tuple[Difference, ...]
    paths: Mapping[str, PathClass]
    tests: int
    least: float
    unjudged: str

    @property
    def changes(self) -> tuple[Difference, ...]:
        """Return the differences in `rows` that are changes."""
        return tuple(row for row in self.rows if row.changed)


def compare(
    a: Side, b: Side, progress: Progress | None = None, least: float = SMALLEST_CHANGE
) -> Comparison:
    """Compare the passes of `b` with the passes of `a`.

    Relative changes smaller than `least` (0.01 = 1 %) are not reported.  Raises Cancelled.
    """
    report = progress or Silent()
    report.report("Comparing", 0, 2)
    one, two = _both_measured(a, b)
    report.report("Comparing", 1, 2)
    paths = _paths(one, two)
    estimates = [_compared(side, paths) for side in (one, two)]
    if a.facts.counters != b.facts.counters:
        estimates[0].pop(COUNTER, None)
    rows = differences(estimates[0], estimates[1], (a.facts.probed, b.facts.probed), least)
    tests = sum(row.p is not None for row in rows)
    stated = differing_conditions(a.facts, b.facts)
    why = "" if tests else why_unjudged(one.lacks, two.lacks)
    return Comparison(stated, (one.amount, two.amount), tuple(rows), paths, tests, least, why)


def _paths(one: Measurements, two: Measurements) -> dict[str, PathClass]:
    """Return the path classes to compare: the most frequent ones of each recording, by name.

    A class is left out if a recording may have it but did not keep it: a recording keeps only its
    most frequent classes.
    """
    found = dict(two.frequent) | dict(one.frequent)
    for side in (one, two):
        kept = set(side.kept)
        found = {name: each for name, each in found.items() if side.has_all or name in kept}
    lost = {*one.losing, *two.losing}
    return {name: each._replace(lost=name in lost) for name, each in found.items()}


def _compared(side: Measurements, paths: Mapping[str, PathClass]) -> dict[Measure, Estimates]:
    """Return one recording's estimates by measure; path classes are only those in `paths`."""
    found = {}
    for of, each in side.estimates:
        names = tuple(name for name in each.names if name in paths)
        found[of] = each.selected(names, 0.0) if of.section == PATHS else each
    return found


def _both_measured(a: Side, b: Side) -> tuple[Measurements, Measurements]:
    """Measure both recordings at the same time, in two threads.

    If a measurement raises an exception, it is raised here after both measurements have ended.
    """
    found: list[Measurements] = []
    failed: list[Exception] = []
    done = Event()

    def measure_b() -> None:
        try:
            found.append(b.measured or measure(b.scope))
        except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
            failed.append(error)
        finally:
            done.set()

    # No pool, and no join(): in a thread of Qt they would leave a thread object behind.
    Thread(target=measure_b, daemon=True).start()
    try:
        first = a.measured or measure(a.scope)
    finally:
        done.wait()
    if failed:
        raise failed[0]
    return first, found[0]

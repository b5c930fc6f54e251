# SPDX-License-Identifier: MIT
"""Compare two recordings: how they were made, their measured values, and the changes."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event, Thread
from typing import NamedTuple

import numpy as np

from ...records import Progress, Silent
from ..stats import Scope
from ..stats.stages import sniffed_legs
from .call_sums import CallSums, call_sums
from .conditions import Condition, RecordingConditions, differing_conditions
from .differences import SMALLEST_CHANGE, Difference, differences
from .drop_estimates import drop_estimates
from .estimates import Estimates, Measure
from .function_estimates import COUNTER, function_estimates
from .leg_estimates import layer_estimates, total_estimates
from .path_classes import (
    PathClass,
    PathClasses,
    described,
    frequent,
    losing,
    path_classes,
    path_estimates,
)
from .time_blocks import Blocks, time_blocks
from .unjudged import why_unjudged


class Side(NamedTuple):
    """One of the two recordings: the passes that are compared, and how it was made."""

    scope: Scope
    facts: RecordingConditions


class Amount(NamedTuple):
    """The size of the compared part of a recording.

    `passes` are those of the packets themselves; `copies` those that sniffers were given.
    `left_out` is the number of passes that were left out because they may lack records.
    """

    packets: int
    passes: int
    copies: int
    calls: int
    left_out: int
    blocks: int  # of time; 0 = too few passes to judge anything
    span_ns: int  # from the start of the first pass to that of the last one


class Comparison(NamedTuple):
    """The result.  `tests` is the number of differences that were judged.

    `paths` describes the classes of paths that the rows of section "paths" name.  `unjudged` says
    why no difference could be judged; "" if some were.
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
    """Compare the passes of `b` with those of `a`.

    Changes smaller than the share `least` are not reported.  Raises Cancelled.
    """
    report = progress or Silent()
    report.report("Comparing", 0, 2)
    sides = _both_measured(a.scope, b.scope)
    named = list(dict.fromkeys(name for side in sides for name in frequent(side.classes)))
    paths: dict[str, PathClass] = {}
    report.report("Comparing", 1, 2)
    for side in sides:
        paths = described(side.scope, side.classes, [n for n in named if n not in paths]) | paths
        for name in losing(side.scope, side.classes, named):
            paths[name] = paths[name]._replace(lost=True)
        found = path_estimates(side.scope, side.blocks, side.classes, named)
        side.estimates.update(found)
    estimates = [side.estimates for side in sides]
    if a.facts.counters != b.facts.counters:
        estimates[0].pop(COUNTER, None)
    rows = differences(estimates[0], estimates[1], (a.facts.probed, b.facts.probed), least)
    one, two = (_amount(side.scope, side.blocks) for side in sides)
    tests = sum(row.p is not None for row in rows)
    stated = differing_conditions(a.facts, b.facts)
    why = "" if tests else why_unjudged(a.scope, b.scope)
    return Comparison(stated, (one, two), tuple(rows), paths, tests, least, why)


class _Measured(NamedTuple):
    """The measurements of one recording."""

    scope: Scope
    blocks: Blocks
    classes: PathClasses
    estimates: dict[Measure, Estimates]


def _measured(scope: Scope) -> _Measured:
    blocks = time_blocks(scope)
    sums = call_sums(scope, blocks)
    return _Measured(scope, blocks, path_classes(scope, sums), _estimates(scope, blocks, sums))


def _both_measured(a: Scope, b: Scope) -> tuple[_Measured, _Measured]:
    """Measure both recordings at the same time, since array operations and loops run in parallel.

    An exception in one measurement is raised here after both have ended.
    """
    found: list[_Measured] = []
    failed: list[Exception] = []
    done = Event()

    def measure_b() -> None:
        try:
            found.append(_measured(b))
        except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
            failed.append(error)
        finally:
            done.set()

    # No pool, and no join(): in a thread of Qt they would leave a thread object behind.
    Thread(target=measure_b, daemon=True).start()
    try:
        first = _measured(a)
    finally:
        done.wait()
    if failed:
        raise failed[0]
    return first, found[0]


def _estimates(scope: Scope, blocks: Blocks, sums: CallSums) -> dict[Measure, Estimates]:
    return {
        **total_estimates(scope, blocks),
        **layer_estimates(scope, blocks, sums),
        **function_estimates(scope, blocks, sums),
        **drop_estimates(scope, blocks),
    }


def _amount(scope: Scope, blocks: Blocks) -> Amount:
    legs = np.flatnonzero(scope.legs)
    begin = scope.of_leg("begin_ns")[legs]
    source = scope.of_leg("source")[legs]
    copies = int(sniffed_legs(scope, legs).sum())
    spans = [np.ptp(begin[source == one]) for one in np.unique(source).tolist()]
    return Amount(
        len(scope.packets),
        len(legs) - copies,
        copies,
        int(scope.once.sum()),
        int((scope.legs & scope.gaps).sum()),
        blocks.number,
        int(max(spans, default=0)),
    )

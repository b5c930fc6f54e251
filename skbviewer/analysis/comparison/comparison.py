# SPDX-License-Identifier: MIT
"""Compare two recordings: how they were made, what they measured, and what changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...records import Progress, Silent
from ..stats import Scope
from .conditions import Condition, Facts, conditions
from .differences import LEAST, Difference, differences
from .drop_estimates import drop_estimates
from .estimates import Estimates, Measure
from .function_estimates import COUNTER, function_estimates
from .leg_estimates import layer_estimates, total_estimates
from .path_classes import PathClass, described, frequent, path_classes, path_estimates
from .time_blocks import Blocks, time_blocks


class Side(NamedTuple):
    """One of the two recordings: which of its passes count, and how it was made."""

    scope: Scope
    facts: Facts


class Amount(NamedTuple):
    """How much of a recording is compared; `left_out` are passes that may lack records."""

    packets: int
    passes: int
    calls: int
    left_out: int
    blocks: int  # of time; 0 = too few passes to judge anything
    span_ns: int  # from the begin of the first pass to that of the last one


class Comparison(NamedTuple):
    """The result.  `tests` is the number of differences that were judged.

    `paths` describes the classes of paths that the rows of section "paths" name.
    """

    conditions: tuple[Condition, ...]
    amounts: tuple[Amount, Amount]
    rows: tuple[Difference, ...]
    paths: Mapping[str, PathClass]
    tests: int
    least: float

    @property
    def changes(self) -> tuple[Difference, ...]:
        """The rows that changed."""
        return tuple(row for row in self.rows if row.changed)


def compare(a: Side, b: Side, progress: Progress | None = None, least: float = LEAST) -> Comparison:
    """Compare the passes of `b` with those of `a`.

    Changes smaller than the share `least` are not reported.  Raises Cancelled.
    """
    report = progress or Silent()
    sides = (a, b)
    classes, blocks = [], []
    for number, side in enumerate(sides):
        report.report("comparing", number, 4)
        blocks.append(time_blocks(side.scope))
        classes.append(path_classes(side.scope))
    named = list(dict.fromkeys(name for one in classes for name in frequent(one)))
    paths: dict[str, PathClass] = {}
    found = []
    for number, (side, cut, groups) in enumerate(zip(sides, blocks, classes, strict=True), start=2):
        report.report("comparing", number, 4)
        paths = described(side.scope, groups, [n for n in named if n not in paths]) | paths
        found.append(_estimates(side.scope, cut) | path_estimates(side.scope, cut, groups, named))
    if a.facts.counters != b.facts.counters:
        found[0].pop(COUNTER, None)
    rows = differences(found[0], found[1], (a.facts.probed, b.facts.probed), least)
    amounts = _amount(a.scope, blocks[0]), _amount(b.scope, blocks[1])
    tests = sum(row.p is not None for row in rows)
    known = conditions(a.facts, b.facts)
    return Comparison(known, amounts, tuple(rows), paths, tests, least)


def _estimates(scope: Scope, blocks: Blocks) -> dict[Measure, Estimates]:
    return {
        **total_estimates(scope, blocks),
        **layer_estimates(scope, blocks),
        **function_estimates(scope, blocks),
        **drop_estimates(scope, blocks),
    }


def _amount(scope: Scope, blocks: Blocks) -> Amount:
    legs = np.flatnonzero(scope.legs)
    begin = scope.of_leg("begin_ns")[legs]
    source = scope.of_leg("source")[legs]
    spans = [np.ptp(begin[source == one]) for one in np.unique(source).tolist()]
    return Amount(
        len(scope.packets),
        len(legs),
        int(scope.once.sum()),
        int((scope.legs & scope.gaps).sum()),
        blocks.number,
        int(max(spans, default=0)),
    )

# SPDX-License-Identifier: MIT
"""The time of slow packets that no finding explains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...records.types import Bools, Int64s
from ..row_number_sets import places_of
from . import wording
from .causes import slow_packets
from .finding import NOTE, PART, Evidence, Finding
from .rule_inputs import LEAST_NS, SHARE, Case
from .wait_findings import examples

NAME = "unexplained"
LISTED = 5


def unexplained(case: Case, findings: Sequence[Finding]) -> list[Finding]:
    """Return at most one finding: slow packets, and how much of their excess has no explanation."""
    if not any(one.rule == slow_packets.NAME for one in findings):
        return []
    excess = slow_packets.excess_of(case)
    slow = slow_packets.slow_ones(case, excess)
    parts = _left(case, slow, findings)
    left = np.zeros(len(excess), np.int64)
    left[slow] = sum(parts.values())
    # An excess in one part may be made up for in another part.
    ns = np.minimum(left, np.maximum(excess, 0)) * slow
    which = slow & (ns >= LEAST_NS) & (ns * SHARE >= excess)
    if not which.any():
        return []
    worst = case.worst(ns, which)
    number, total = int(which.sum()), int(ns[which].sum())
    sums = {name: int(over[which[slow]].sum()) for name, over in parts.items()}
    most = sorted(((n, ns) for n, ns in sums.items() if ns), key=lambda one: -one[1])[:LISTED]
    text = (
        f"{wording.packets(number)} took {wording.time(int(excess[which].sum()))} longer than the "
        f"median {'packet of its path' if number == 1 else 'packets of their paths'}. No rule "
        f"explains {wording.time(total)} of this time. The largest part is {most[0][0]}."
    )
    evidence = [
        Evidence(PART, None, f"{title}: +{wording.time(lost)}", ns=lost) for title, lost in most
    ]
    evidence += examples(case, worst, ns, "unexplained")
    advice = "Compare the paths of these packets with those of the median packets."
    rows, first = case.rows[np.flatnonzero(which)], case.ids(worst[:1])[0]
    return [Finding(NAME, NOTE, first, number, total, text, tuple(evidence), advice, rows)]


def _left(case: Case, slow: Bools, findings: Sequence[Finding]) -> dict[str, Int64s]:
    """Return how much longer (ns) slow packets took than the median in each unexplained part."""
    made, mine = case.made, slow_packets.slow_case(case, slow)
    explained, found = _explained(mine, findings), dict[str, Int64s]()
    used = np.flatnonzero(np.diff(mine.parts.at)) % made.per_stage
    for part in sorted(set(used.tolist())):
        name = made.part_at(part).name
        over = mine.spent(part) - np.maximum(mine.median_of(part), 0)
        over = np.maximum(over, 0)
        if name in explained:
            over[explained[name]] = 0
        if over.any():
            found[name] = found.get(name, 0) + over
    return found


def _explained(case: Case, findings: Sequence[Finding]) -> dict[str, Bools]:
    """Return, for each part that a finding explains, which packets of `case` it explains."""
    order = np.argsort(case.rows, kind="stable")
    found: dict[str, Bools] = {}
    for one in findings:
        for name in one.explains:
            mask = found.setdefault(name, np.zeros(len(case.rows), np.bool_))
            place = places_of(one.packets, case.rows[order])
            mask[order[place[place >= 0]]] = True
    return found

# SPDX-License-Identifier: MIT
"""Time of slow packets that no finding explains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...records.types import Bools, Int64s
from . import wording
from .case import LEAST_NS, SHARE, Case
from .causes import slow_packets
from .finding import NOTE, PART, Evidence, Finding
from .waiting import examples

NAME = "unexplained"
LISTED = 5


def unexplained(case: Case, findings: Sequence[Finding]) -> list[Finding]:
    """Return a finding about the excess of slow packets in parts that no finding explains."""
    if not any(one.rule == slow_packets.NAME for one in findings):
        return []
    excess = slow_packets.excess_of(case)
    slow = slow_packets.slow_ones(case, excess)
    left, by_part = _left(case, slow, findings)
    # An excess in one part may be made up for in another part.
    ns = np.minimum(left, np.maximum(excess, 0)) * slow
    which = slow & (ns >= LEAST_NS) & (ns * SHARE >= excess)
    if not which.any():
        return []
    worst = case.worst(ns, which)
    number, total = int(which.sum()), int(ns[which].sum())
    most = sorted(by_part.items(), key=lambda one: -one[1])[:LISTED]
    text = (
        f"{wording.packets(number)} took {wording.time(total)} longer than the median packet of "
        f"their paths, and no rule explains why.  The largest part is {most[0][0]}."
    )
    evidence = [
        Evidence(PART, None, f"{title}: +{wording.time(lost)}", ns=lost) for title, lost in most
    ]
    evidence += examples(case, worst, ns, "unexplained")
    advice = "Compare the paths of these packets with those of the median packets."
    rows, first = case.rows[np.flatnonzero(which)], case.ids(worst[:1])[0]
    return [Finding(NAME, NOTE, first, number, total, text, tuple(evidence), advice, rows)]


def _left(case: Case, slow: Bools, findings: Sequence[Finding]) -> tuple[Int64s, dict[str, int]]:
    """Return each packet's excess over the median in unexplained parts, and the sums by part."""
    made, count = case.made, len(case.rows)
    explained = _explained(case, findings)
    left, sums = np.zeros(count, np.int64), dict[str, int]()
    used = np.unique(np.r_[case.divided_times.place, case.medians.place] % made.per_stage)
    for part in used.tolist():
        name = made.part_at(part).name
        over = case.spent(part) - np.maximum(case.median_of(part), 0)
        over = np.where(slow & (over > 0), over, 0)
        if name in explained:
            over = np.where(explained[name], 0, over)
        left += over
        if over.any():
            sums[name] = sums.get(name, 0) + int(over.sum())
    return left, sums


def _explained(case: Case, findings: Sequence[Finding]) -> dict[str, Bools]:
    """Return for each part that findings explain which of the chosen packets they explain."""
    place = np.full(len(case.made.units.id), -1, np.int64)
    place[case.rows] = np.arange(len(case.rows))
    found: dict[str, Bools] = {}
    for one in findings:
        for name in one.explains:
            mask = found.setdefault(name, np.zeros(len(case.rows), np.bool_))
            mask[place[one.packets]] = True
    return found

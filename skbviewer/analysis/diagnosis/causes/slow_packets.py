# SPDX-License-Identifier: MIT
"""Packets that took much longer than the median packet of their path, and in which parts."""

from __future__ import annotations

import numpy as np

from ....records.types import Bools, Int64s
from .. import required_data, wording
from ..finding import PART, WARNING, Evidence, Finding, Rule
from ..rule_inputs import SHARE, WAIT_NS, Case
from ..wait_findings import examples

NAME = "slow-packets"
FACTOR = 2  # a packet is slow if it took this many times as long as the median packet
LISTED = 8  # most parts that are listed


def _find(case: Case) -> list[Finding]:
    excess = excess_of(case)
    slow = slow_ones(case, excess)
    if not slow.any():
        return []
    lost = differences(case, slow)
    whole = int(excess[slow].sum())
    worst = case.worst(excess, slow)
    first = int(worst[0])
    classes, units = case.made.classes, case.made.units
    median = int(classes.median[classes.peers[case.rows[first]]])
    took, usual = int(case.kernel_ns[first]), int(units.kernel_ns[median])
    number, name = int(slow.sum()), wording.packet(case.ids(worst[:1])[0])
    of = f" of {wording.packets(len(slow))}" if len(slow) > 1 else ""
    text = (
        f"{number}{of} took {wording.time(whole)} longer than the median "
        f"{'packet of its path' if number == 1 else 'packets of their paths'}. "
        if len(slow) > 1
        else ""
    )
    text += (
        f"{name[0].upper()}{name[1:]} took {wording.time(took)}; the median packet of its path, "
        f"{wording.packet(int(units.id[median]))}, took {wording.time(usual)}. "
    )
    most = [f"{title} ({wording.share(ns, whole)})" for title, ns in lost[:3] if ns > 0]
    text += f"Most of the difference: {', '.join(most)}."
    evidence = [*_parts(lost), *examples(case, worst, excess, "longer by")]
    return [
        Finding(
            NAME, WARNING, case.ids(worst[:1])[0], number, whole, text, tuple(evidence),
            "See the findings about the parts that are named above. Compare the packet's path with "
            "the median packet's path.",
            case.rows[np.flatnonzero(slow)],
        )
    ]  # fmt: skip


def excess_of(case: Case) -> Int64s:
    """Return how much longer (ns) each chosen packet took than the median packet of its class.

    The result is 0 for a packet whose class is too small for a comparison.
    """
    found: Int64s = case.cached("excess", _excess)
    return found


def _excess(case: Case) -> Int64s:
    classes, units = case.made.classes, case.made.units
    median = units.times(classes.median)[classes.peers[case.rows]]
    return np.where(classes.are_comparable(case.rows), case.kernel_ns - median, 0)


def slow_ones(case: Case, excess: Int64s) -> Bools:
    """Return for each chosen packet whether it is slow.

    `excess` is how much longer (ns) each packet took than the median packet of its class.  If only
    one packet is chosen, a smaller excess is enough to call the packet slow.
    """
    usual = case.kernel_ns - excess
    least = usual // SHARE if len(excess) == 1 else usual * (FACTOR - 1)
    return np.asarray((excess >= WAIT_NS) & (excess > least))


def differences(case: Case, which: Bools) -> list[tuple[str, int]]:
    """Return which parts and stages made the packets `which` slower: (title, ns), longest first.

    The sum of all ns is the excess of these packets over the median packets of their classes.
    """
    made = case.made
    slow = slow_case(case, which)
    bounds = np.r_[0, np.cumsum(slow.parts.ns)][slow.parts.at]
    total = np.asarray(np.diff(bounds), np.int64)
    count = np.bincount(made.classes.peers[slow.rows], minlength=len(made.classes.median))
    times = np.zeros(len(made.units.id), np.int64)
    np.add.at(times, made.classes.median, count)
    parts = case.medians
    np.subtract.at(total, parts.place, parts.ns * times[parts.unit])
    found: dict[str, int] = {}
    for place in np.flatnonzero(total).tolist():
        part = made.part_at(place)
        title = f"{part.name} in {part.stage}"
        found[title] = found.get(title, 0) + int(total[place])
    return sorted(found.items(), key=lambda one: -one[1])


def slow_case(case: Case, slow: Bools) -> Case:
    """Return the case of the packets that are slow (slow_ones())."""
    found: Case = case.cached("slow packets", lambda case: case.among(np.flatnonzero(slow)))
    return found


def _parts(lost: list[tuple[str, int]]) -> list[Evidence]:
    """Return as evidence the largest differences in `lost`, and the sum of all others."""
    shown = sorted(lost, key=lambda one: -abs(one[1]))
    rest = sum(ns for _, ns in shown[LISTED:])
    listed = shown[:LISTED] + ([("all other parts", rest)] if shown[LISTED:] else [])
    return [
        Evidence(PART, None, f"{title}: {'+' if ns > 0 else ''}{wording.time(ns)}", ns=ns)
        for title, ns in listed
    ]


RULE = Rule(NAME, (required_data.calls(), required_data.peers()), _find)

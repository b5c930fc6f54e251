# SPDX-License-Identifier: MIT
"""The times of one packet, from those of its legs; where they overlap, the first of RANK counts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .spent import BUSY, RANK, Leg


def packet(legs: Sequence[Leg]) -> dict[str, int]:
    """Return kernel, busy, cpu, unknown and each wait of one packet's legs in one log, ns."""
    made = dict.fromkeys(RANK, 0)
    cuts = {cut for leg in legs for cut in (leg.begin, leg.end)}
    cuts |= {cut for leg in legs for _, *span in leg.waits for cut in span}
    at = sorted(cuts)
    for begin, end in pairwise(at):
        names = [
            next((what for what, low, high in leg.waits if low <= begin < high), BUSY)
            for leg in legs
            if leg.begin <= begin < leg.end
        ]
        if names:
            made[min(names, key=RANK.index)] += end - begin
    return made | {"kernel": sum(made.values()), "cpu": sum(leg.cpu_ns for leg in legs)}

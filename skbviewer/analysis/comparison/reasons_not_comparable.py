# SPDX-License-Identifier: MIT
"""Why no difference between two recordings could be judged.

"No change" is a different answer than "could not be judged".
"""

from __future__ import annotations

from ...records import counted
from ..stats import Scope
from .leg_directions import own_passes
from .time_blocks import LEGS, WINDOWS

NOTHING_SHARED = "A and B share no function, layer or path with enough data"


def why_unjudged(one: str, two: str) -> str:
    """Return why no difference between A and B could be judged.

    `one` and `two` are results of what_it_lacks() for A and B.
    """
    if one == two:
        return f"A and B have {one}" if one else NOTHING_SHARED
    return " and ".join(f"{name} has {what}" for name, what in (("A", one), ("B", two)) if what)


def what_it_lacks(scope: Scope) -> str:
    """Return why no difference can be judged in a recording, as a phrase; "" if some can."""
    if not scope.kernels:
        return "no kernel log"
    passes = int(own_passes(scope).sum())
    if not passes:
        return "no leg that matches the filter" if scope.is_chosen else "no leg of a packet"
    if not (scope.legs & ~scope.points).any():
        return "only points, which have no durations"
    if not (scope.legs & ~scope.gaps).any():
        return "no leg without missing records"
    fewest = WINDOWS * LEGS
    return f"{counted(passes, 'leg')}, fewer than {fewest}" if passes < fewest else ""

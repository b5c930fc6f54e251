# SPDX-License-Identifier: MIT
"""Find the pairs of appearances that every consistent assignment contains."""

from __future__ import annotations

import numpy as np

from ...records.types import Bools, Int64s
from .packet_appearances import Appearances, Pairs

ROUNDS = 16


def has_no_rival(made: Appearances, pairs: Pairs, possible: Bools) -> Bools:
    """Return the pairs whose two appearances have no other possible pair on these two clocks."""
    ahead, behind = _partners(made, pairs, possible)
    return np.asarray(possible & (ahead == 1) & (behind == 1), np.bool_)


def forced(made: Appearances, pairs: Pairs, possible: Bools, complete: Bools) -> Bools:
    """Return the pairs that every consistent assignment contains.

    If the recording of the sender is `complete`, each packet that arrived has a partner there.  So
    a packet with one possible partner has this partner, and no other packet can have it.
    """
    left = possible.copy()
    for _ in range(ROUNDS):
        _, behind = _partners(made, pairs, left)
        only = left & complete & (behind == 1)
        taken, _ = _partners(made, pairs, only)
        wrong = left & ~only & (taken > 0)
        if not wrong.any():
            break
        left &= ~wrong
    return has_no_rival(made, pairs, left)


def _partners(made: Appearances, pairs: Pairs, possible: Bools) -> tuple[Int64s, Int64s]:
    """Return for each pair how many possible partners `a` has on `b`'s clock, and `b` on `a`'s."""
    clocks = int(made.clock.max(initial=0)) + 1
    # A pair of unknown order may have either appearance as `a`, so both ends are counted together.
    ends = pairs.a * clocks + made.clock[pairs.b], pairs.b * clocks + made.clock[pairs.a]
    names, at = np.unique(np.concatenate(ends), return_inverse=True)
    count = np.bincount(at[np.tile(possible, 2)], minlength=len(names))[at].astype(np.int64)
    return count[: len(pairs.a)], count[len(pairs.a) :]

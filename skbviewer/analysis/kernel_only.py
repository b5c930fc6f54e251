# SPDX-License-Identifier: MIT
"""Which packet lives are rows of the packet list, and their numbers K1, K2, ...

A life is one if no wire packet was matched to it and it is not what a tap was given.  Those that
show an IP or ARP header come first, in the order of KBLs and of time: they are listed by default.
What has no network identity (sk_buffs of other families, or never seen with a header) comes behind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..matching import SeriesTable

WIRE_ONLY = 2
Ids = npt.NDArray[np.int64]


def numbers(
    series: Sequence[SeriesTable],
    verdicts: Sequence[npt.NDArray[np.integer]],
    identity: Sequence[npt.NDArray[np.integer]],
) -> list[Ids]:
    """Per KBL and series the n of row K<n>, -1 = none."""
    found = [np.full(len(known), -1, np.int64) for known in identity]
    before = 0
    for identified in (True, False):
        for table, verdict, known, out in zip(series, verdicts, identity, found, strict=True):
            shown = ~table.tap & (verdict == WIRE_ONLY) & ((known >= 0) == identified)
            out[shown] = np.arange(np.count_nonzero(shown)) + before + 1
            before += int(np.count_nonzero(shown))
    return found

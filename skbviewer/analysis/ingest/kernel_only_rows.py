# SPDX-License-Identifier: MIT
"""Number the skb lifetimes that are rows of the packet list: K1, K2, ...

A lifetime gets a number if it matches no wire packet and is not a sniffer's copy.  Lifetimes with
an IP or ARP header come first, in the order of KBLs and of time; they are listed by default.
Lifetimes without network identity (sk_buffs of other families, or without a recorded header) come
last.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...matching import SeriesTable

WIRE_ONLY = 2
Ids = npt.NDArray[np.int64]


def numbers(
    series: Sequence[SeriesTable],
    verdicts: Sequence[npt.NDArray[np.integer]],
    identity: Sequence[npt.NDArray[np.integer]],
) -> list[Ids]:
    """Return for each KBL, by series, n if the series is row K<n>, otherwise -1.

    Lifetimes with an identity get the lowest numbers.  `verdicts` and `identity` (-1 = none) are by
    KBL and series.
    """
    found = [np.full(len(known), -1, np.int64) for known in identity]
    before = 0
    for identified in (True, False):
        for table, verdict, known, out in zip(series, verdicts, identity, found, strict=True):
            shown = ~table.tap & (verdict == WIRE_ONLY) & ((known >= 0) == identified)
            out[shown] = np.arange(np.count_nonzero(shown)) + before + 1
            before += int(np.count_nonzero(shown))
    return found

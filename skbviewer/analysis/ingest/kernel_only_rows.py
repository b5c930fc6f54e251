# SPDX-License-Identifier: MIT
"""Number the skb lifetimes that get a row of the packet list: K1, K2, ...

A lifetime gets a number if it matches no captured packet and is not a copy for a sniffer.
Lifetimes with an IP or ARP header come first, in the order of KBLs and of time.  The packet list
shows lifetimes with an IP or ARP header by default.  Lifetimes without network identity (of other
protocol families, or without a recorded header) come last.
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
    """Return n for each lifetime that is row K<n>, and -1 for all other lifetimes, by KBL.

    Lifetimes that have a network identity get the lowest numbers.  `verdicts` and `identity` (-1 =
    none) have an array for each KBL, with an element for each lifetime.
    """
    found = [np.full(len(known), -1, np.int64) for known in identity]
    before = 0
    for identified in (True, False):
        for table, verdict, known, out in zip(series, verdicts, identity, found, strict=True):
            shown = ~table.tap & (verdict == WIRE_ONLY) & ((known >= 0) == identified)
            out[shown] = np.arange(np.count_nonzero(shown)) + before + 1
            before += int(np.count_nonzero(shown))
    return found

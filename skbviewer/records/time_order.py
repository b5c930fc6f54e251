# SPDX-License-Identifier: MIT
"""Sort rows by time.

Sorting numbers takes a quarter of the time that sorting their indices takes.
"""

from __future__ import annotations

import numpy as np

from ..records.types import Int64s

BITS = 63


def time_order(ts: Int64s) -> Int64s:
    """Return the order that np.argsort(ts, kind="stable") returns, but faster."""
    count = len(ts)
    if not count:
        return np.zeros(0, np.int64)
    start, bits = int(ts.min()), count.bit_length()
    if (int(ts.max()) - start).bit_length() + bits > BITS:
        return np.argsort(ts, kind="stable")
    key = ts - start
    key <<= bits
    key |= np.arange(count)
    key.sort(kind="stable")  # merges sorted runs that follow each other
    key &= (1 << bits) - 1
    return key

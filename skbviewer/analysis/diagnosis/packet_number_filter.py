# SPDX-License-Identifier: MIT
"""The display filter that selects packets by number."""

from __future__ import annotations

import numpy as np

from ...records.types import Int64s

MOST_RANGES = 2000  # most ranges in a filter, which the user reads and edits


def packets_filter(rows: Int64s) -> str | None:
    """Return the display filter that selects the packets in `rows`; None if there are none.

    `rows` are numbers of packets (-n for row K<n>), rising.  Rows K<n> are left out, because they
    have no frame number.  If the filter would need more than MOST_RANGES ranges, the last packets
    are left out.
    """
    numbers = rows[rows > 0]
    if not len(numbers):
        return None
    first = np.flatnonzero(np.diff(numbers, prepend=-1) != 1)
    last = np.append(first[1:], len(numbers)) - 1
    begins, ends = (numbers[at[:MOST_RANGES]].tolist() for at in (first, last))
    listed = [str(a) if a == b else f"{a}..{b}" for a, b in zip(begins, ends, strict=True)]
    return f"frame.number in {{{', '.join(listed)}}}"

# SPDX-License-Identifier: MIT
"""The rows into which the compiled scanner writes events."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.types import Int32s, Int64s, UInt8s
from .event_keys import NUMBERS, TEXTS

UInt64s = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int32]

POINT, OTHER, CUT = 0, 1, 2  # kinds of rows
RAW_MOST = 10  # raw sections of an event
ROWS = 1 << 14  # rows of one pass


class Scanned(NamedTuple):
    """The rows of one pass: one for each point, and one for each event that the loop cannot read.

    `numbers` are by place (see Keys); `seen` has a bit for each place for which the event has a
    value.  `texts` and `raw` are (begin, end) in the block; `begin` and `end` are those of the
    whole event.
    """

    kind: UInt8s
    begin: Int64s
    end: Int64s
    numbers: UInt64s
    seen: Int64s
    texts: Places
    raws: Int32s  # number of raw sections
    raw: Places


def no_rows() -> Scanned:
    """Return a table with empty rows for scan()."""
    return Scanned(
        np.zeros(ROWS, np.uint8),
        np.zeros(ROWS, np.int64),
        np.zeros(ROWS, np.int64),
        np.zeros((ROWS, len(NUMBERS)), np.uint64),
        np.zeros(ROWS, np.int64),
        np.zeros((ROWS, len(TEXTS), 2), np.int32),
        np.zeros(ROWS, np.int32),
        np.zeros((ROWS, RAW_MOST, 2), np.int32),
    )

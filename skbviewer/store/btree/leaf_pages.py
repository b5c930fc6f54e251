# SPDX-License-Identifier: MIT
"""Leaf pages of SQLite's b-trees in memory, filled with rows of numbers (see row_cells.py).

The cells of several pages are made together, one after the other.  The bytes that are equal in all
cells are written once, and stay for the next pages.  The columns are then written into the cells,
one after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.types import UInt8s
from .leaf_page_loops import ROOM
from .row_cell_loops import (
    PAGE,
)


class Sheet(NamedTuple):
    """Pages in memory, as bytes and as unaligned numbers, followed by space for cells."""

    u1: UInt8s
    u2: npt.NDArray[np.uint16]
    u4: npt.NDArray[np.uint32]
    u8: npt.NDArray[np.uint64]


def sheet(pages: int) -> Sheet:
    """Return memory for `pages` pages, with space for cells after them."""
    raw = np.empty(pages * PAGE + ROOM, np.uint8)
    u2, u4, u8 = (np.ndarray((raw.size - n + 1,), f"u{n}", raw, 0, (1,)) for n in (2, 4, 8))
    return Sheet(raw, u2, u4, u8)

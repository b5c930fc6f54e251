# SPDX-License-Identifier: MIT
"""Lay out rows of numbers as cells of SQLite's pages (sqlite.org/fileformat2.html, 1.6, 2.1).

Input: columns (see typed_columns.py).  Output: the layout of a block of rows whose cells have equal
sizes.  Each column is as wide as its lowest and its highest value in the block need, so all rows of
the block have the same record header.  With this layout, leaf_pages.py makes pages.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Int64s, UInt8s
from .row_cell_loops import PAGE, SHAPE


class Layout(NamedTuple):
    """The layout of the cells of a block of rows, which lay_out() computes."""

    shape: Int64s  # sizes and counts: SIZE, LEAD, ROWID, EACH, VARYING
    body: Int64s  # (columns, 3): COLUMN, OFFSET, WIDTH of those that vary, from left to right
    cell: UInt8s  # the bytes that all cells have in common
    bounds: Int64s  # (columns, 2): lowest and highest value of each column


def layout(columns: int) -> Layout:
    """Return an empty layout for tables of `columns` columns; lay_out() fills it."""
    assert columns < 126, "a row has more columns than this writer can write"
    return Layout(
        np.zeros(SHAPE, np.int64),
        np.zeros((columns, 3), np.int64),
        np.zeros(PAGE, np.uint8),
        np.zeros((columns, 2), np.int64),
    )

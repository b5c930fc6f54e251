# SPDX-License-Identifier: MIT
"""The legs of rows of the packet list, without reading whole columns if the rows are few."""

from __future__ import annotations

import numpy as np

from ...matching import EXACT
from ...records.types import Int64s
from ...store import Columns
from ..number_sets import distinct


def legs_of_rows(columns: Columns, rows: Int64s) -> Int64s:
    """Return the legs (0-based, rising) of rows of the packet list: n, or -n for row K<n>.

    Those of packet n match it exactly; those of row K<n> are all legs of its lifetime.
    """
    rows = distinct(rows)
    match, _ = columns.rows_with("match", "packet", rows[rows > 0])
    match = match[columns.near("match", "verdict", match) == EXACT]
    legs = columns.near("match", "leg", match).astype(np.int64) - 1
    alone = -rows[rows < 0][::-1]
    if len(alone):
        series, _ = columns.rows_with("series", "kernel_only", alone)
        legs = np.concatenate([legs, columns.rows_with("leg", "series", series + 1)[0]])
    return distinct(legs)

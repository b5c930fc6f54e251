# SPDX-License-Identifier: MIT
"""Read the cache lines that functions accessed, from a file of the emulator's plugin."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...records.types import Int64s
from .emulator_file import read_rows


class ExecutedTouches(NamedTuple):
    """Loads and stores by function and cache line between two marks, one value per row.

    `made` is the number of marks before the accesses; `function` is the address of the function
    that made them, and `line` the address of the cache line; both addresses are signed.  A row
    without loads and stores says that accesses of its function were counted.  `lost` is the number
    of accesses for which the file had no room.
    """

    path: Path
    made: Int64s
    function: Int64s
    line: Int64s
    loads: Int64s
    stores: Int64s
    lost: int


def read_executed_touches(path: Path) -> ExecutedTouches:
    """Return the rows in the file `path`; a file of version 1 has none.

    Raises BadInput if the file cannot be read or is damaged.
    """
    rows = read_rows(path, "touches")
    made, function, line, loads, stores = rows.words.view(np.int64).T
    return ExecutedTouches(path, made, function, line, loads, stores, rows.lost)

# SPDX-License-Identifier: MIT
"""How a part of the timeline lies on an area of pixels.  No Qt."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

LANE_GAP = 0.5  # rows between lanes

Number = TypeVar("Number", float, npt.NDArray[np.float64])


class Frame(NamedTuple):
    """x in pixels = (ns - begin) * per_ns; y in pixels = (row - top) * row_px; from 0, 0."""

    begin: float  # ns since the timeline's t0
    end: float
    top: float  # rows
    row_px: float
    width: float
    height: float

    @property
    def per_ns(self) -> float:
        return self.width / max(self.end - self.begin, 1e-9)

    def x(self, ns: Number) -> Number:
        return (ns - self.begin) * self.per_ns

    def y(self, row: Number) -> Number:
        return (row - self.top) * self.row_px

    def ns(self, x: float) -> float:
        return self.begin + x / self.per_ns

    def row(self, y: float) -> float:
        return self.top + y / self.row_px


class Places(NamedTuple):
    """Where the rows of a timeline stand: y in rows, with gaps between the lanes."""

    row_y: npt.NDArray[np.float64]
    lane_y: npt.NDArray[np.float64]  # top of each lane
    total: float

    def rows_between(self, top: float, bottom: float) -> range:
        """The rows that are at least in part between two y."""
        low = int(np.searchsorted(self.row_y, top - 1, "right"))
        return range(low, int(np.searchsorted(self.row_y, bottom)))

    def row_at(self, y: float) -> int | None:
        """The row at y; None for a gap."""
        at = int(np.searchsorted(self.row_y, y, "right")) - 1
        return at if at >= 0 and y < self.row_y[at] + 1 else None


def places(lane_rows: list[int]) -> Places:
    """Places of lanes that have so many rows each."""
    rows = np.array(lane_rows, np.int64)
    lane = np.repeat(np.arange(len(rows)), rows)
    row_y = np.arange(len(lane)) + LANE_GAP * lane
    first = np.cumsum(rows) - rows
    lane_y = first + LANE_GAP * np.arange(len(rows))
    return Places(row_y, lane_y, float(rows.sum() + LANE_GAP * max(len(rows) - 1, 0)))

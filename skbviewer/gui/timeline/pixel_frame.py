# SPDX-License-Identifier: MIT
"""Map times and rows of the timeline to pixels.  No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from skbviewer.analysis.timeline.lanes import PACKET_KINDS, Timeline

LANE_GAP = 0.5  # rows between lanes
TITLE_ROWS = 6  # this many rows of minimum height are as high as a title

Number = TypeVar("Number", float, npt.NDArray[np.float64])


class Frame(NamedTuple):
    """The visible part of the timeline: ns from `begin`, rows from `top`, and its size in pixels.

    x = (ns - begin) * per_ns and y = (row - top) * row_px, in pixels from (0, 0).
    """

    begin: float  # ns since the timeline's t0
    end: float
    top: float  # rows
    row_px: float
    width: float
    height: float

    @property
    def per_ns(self) -> float:
        """Return how many pixels a nanosecond is wide."""
        return self.width / max(self.end - self.begin, 1e-9)

    def x(self, ns: Number) -> Number:
        """Return the x in pixels at which a time (ns) is shown."""
        return (ns - self.begin) * self.per_ns

    def y(self, row: Number) -> Number:
        """Return the y in pixels at which a row is shown."""
        return (row - self.top) * self.row_px

    def ns(self, x: float) -> float:
        """Return the time (ns) that is shown at x pixels."""
        return self.begin + x / self.per_ns

    def row(self, y: float) -> float:
        """Return the row (with fraction) that is shown at y pixels."""
        return self.top + y / self.row_px


class Places(NamedTuple):
    """Positions of the rows of a timeline: y in rows, with gaps between lanes."""

    row_y: npt.NDArray[np.float64]
    lane_y: npt.NDArray[np.float64]  # top of each lane
    total: float

    def rows_between(self, top: float, bottom: float) -> range:
        """Return the rows that are at least partly between the heights `top` and `bottom`."""
        low = int(np.searchsorted(self.row_y, top - 1, "right"))
        return range(low, int(np.searchsorted(self.row_y, bottom)))

    def row_at(self, y: float) -> int | None:
        """Return the row at y; None if y is in the space between two lanes."""
        at = int(np.searchsorted(self.row_y, y, "right")) - 1
        return at if at >= 0 and y < self.row_y[at] + 1 else None


def places(lane_rows: Sequence[int], least: int = 1) -> Places:
    """Return the y of each row and of each lane, with space between the lanes.

    y is in units of a row.  `lane_rows` has the number of rows of each lane; a lane is at least
    `least` rows high.
    """
    rows = np.array(lane_rows, np.int64)
    heights = np.maximum(rows, least) + LANE_GAP
    lane_y = np.cumsum(heights) - heights
    first = np.cumsum(rows) - rows
    row_y = np.repeat(lane_y - first, rows) + np.arange(rows.sum())
    return Places(row_y, lane_y, float(max(heights.sum() - LANE_GAP, 0)))


def places_of(timeline: Timeline | None) -> Places:
    """Return the y of each row and of each lane of `timeline`; see places()."""
    if timeline is None:
        return places([])
    least = TITLE_ROWS if timeline.kind in PACKET_KINDS else 1
    return places([lane.rows for lane in timeline.lanes], least)

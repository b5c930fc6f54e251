# SPDX-License-Identifier: MIT
"""The user's settings on the timeline: markers, range, notes.  This module needs no Qt.

Times are session times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skbviewer.records import NotePlace

SELECTED = "selected"  # lanes of the selected packet's path; for others see analysis.timeline.KINDS
LANE_TITLES = {
    SELECTED: "Selected packet",
    "packet": "Displayed packets",
    "aligned": "Displayed packets, aligned",
    "cpu": "CPUs",
    "layer": "Layers",
    "process": "Processes",
}
MARKERS = ("A", "B")


@dataclass
class TimeState:
    """The markers A and B, the range and the notes; a double click sets the `active` marker."""

    a: int | None = None
    b: int | None = None
    active: str = "A"
    range: tuple[int, int] | None = None
    span: tuple[int, int] | None = None  # begin and end of the selected packet
    notes: tuple[NotePlace, ...] = ()
    others: tuple[int | None, int | None] = (None, None)  # A and B for swap_markers()

    def swap_markers(self) -> None:
        """Swap the present markers with the markers of the other kind of lanes.

        Lanes with relative times and lanes with session times have markers of their own.
        """
        self.others, (self.a, self.b) = (self.a, self.b), self.others

    def marker(self, letter: str) -> int | None:
        """Return the time of marker "A" or "B", ns; None if it is not set."""
        return self.a if letter == "A" else self.b

    def set_marker(self, letter: str, at_ns: int | None) -> None:
        """Set marker "A" or "B" to a time, ns; None removes it."""
        if letter == "A":
            self.a = at_ns
        else:
            self.b = at_ns

    def clear(self) -> None:
        """Remove markers, range and notes."""
        self.a = self.b = self.range = self.span = None
        self.notes, self.others = (), (None, None)

    @property
    def difference(self) -> int | None:
        """Return the time from marker A to marker B in ns; None unless both are set."""
        return None if self.a is None or self.b is None else self.b - self.a


def snap(at: float, edges: npt.NDArray[np.float64], reach: float) -> float:
    """Return the edge that is nearest to `at`; if none is within `reach`, return `at`."""
    if not len(edges):
        return at
    nearest = float(edges[np.argmin(np.abs(edges - at))])
    return nearest if abs(nearest - at) <= reach else at


def stack_levels(spans: Sequence[tuple[float, float]], levels: int) -> list[int]:
    """Return a level (from 0) for each span, so that spans on the same level do not overlap.

    If more than `levels` spans overlap, the remaining ones are all on the last level.
    """
    ends = [float("-inf")] * levels
    found = []
    for low, high in spans:
        level = next((at for at, end in enumerate(ends) if end <= low), levels - 1)
        ends[level] = max(ends[level], high)
        found.append(level)
    return found

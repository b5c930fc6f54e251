# SPDX-License-Identifier: MIT
"""Fit the sniffer's clock to the KBL's clock from pairs whose match is certain.

Only a result of matching by identity, never its reason.  In segments, where a clock was set; within
each robust: median offset, Theil-Sen drift (Sen 1968), spread as 1.4826 x median absolute
deviation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .pairing import Index
from .steps import boundaries, runs

MIN_DRIFT_PAIRS = 8
MAX_DRIFT_PPM = 1000  # adjtimex(2) slews by at most 500, a bad crystal adds 200
CLEAR = 10  # a drift is believed if it moved the clock by this many spreads
FEW = 16  # pairs of which a drift may be made up of two late ones
MAX_SLOPES = 2000
MOST = 75  # percent of the stamps that are made within their slack
FLOOR_NS = 500  # a spread below this is not believed when distances are judged
AGREED = 3  # pairs that speak for a segment before time may contradict an identity

Floats = npt.NDArray[np.float64]


class Segment(NamedTuple):
    """capture time = KBL time + offset_ns + drift_ppm * 1e-6 * (KBL time - origin_ns).

    It holds from the packet `first` (index) on, captured at `begin_ns`.  `residual_ns` is how far
    off it may be: the spread of the pairs, how long the sniffer may have waited with its stamp, and
    what an uncertain drift adds up to.
    """

    begin_ns: int
    first: int
    origin_ns: int
    offset_ns: int
    drift_ppm: float
    residual_ns: int
    pairs: int
    spread_ns: int

    def to_kernel(self, capture_ns: Index) -> Index:
        """Capture times on the KBL's clock, ns."""
        past = capture_ns - self.offset_ns - self.origin_ns
        drift = past.astype(np.float64) * (self.drift_ppm * 1e-6 / (1 + self.drift_ppm * 1e-6))
        return np.asarray(past + self.origin_ns - np.rint(drift).astype(np.int64), np.int64)


class ClockFit(NamedTuple):
    """Segments in the order of the capture's packets, at least one."""

    segments: tuple[Segment, ...]

    def to_kernel(self, capture_ns: Index, packet: Index) -> Index:
        """Capture times of these packets (indices) on the KBL's clock, ns."""
        which = self.segment_of(packet)
        made = np.zeros(len(capture_ns), np.int64)
        for number, segment in enumerate(self.segments):
            mine = which == number
            made[mine] = segment.to_kernel(capture_ns[mine])
        return made

    def segment_of(self, packet: Index) -> Index:
        """The segment that each packet is in."""
        first = np.array([segment.first for segment in self.segments])
        return np.maximum(np.searchsorted(first, packet, "right") - 1, 0)

    def sigma(self, packet: Index) -> Index:
        """The spread to judge distances of these packets by, ns."""
        spread = np.array([max(segment.spread_ns, FLOOR_NS) for segment in self.segments])
        return np.asarray(spread[self.segment_of(packet)], np.int64)

    def agreed(self, packet: Index) -> npt.NDArray[np.bool_]:
        """Packets in a segment that several pairs speak for."""
        pairs = np.array([segment.pairs for segment in self.segments])
        return np.asarray(pairs[self.segment_of(packet)] >= AGREED)

    @property
    def pairs(self) -> int:
        """All pairs that it is made from."""
        return sum(segment.pairs for segment in self.segments)


def fit(
    packet: Index, captured: Index, kernel_ns: Index, slack: Index | None = None
) -> ClockFit | None:
    """The fit of pairs of the same packet; None without any.

    `packet` is the index of each pair's packet, `captured` the times (ns) of all packets of the
    capture; the KBL's time lies within `slack` ns of kernel_ns.
    """
    if not len(packet):
        return None
    order = np.lexsort((kernel_ns, packet))
    packet, kernel_ns = packet[order], kernel_ns[order]
    slack = np.zeros(len(order), np.int64) if slack is None else slack[order]
    capture_ns = captured[packet]
    run = runs(capture_ns - kernel_ns, kernel_ns)
    segments, begins = [], boundaries(packet, captured, capture_ns - kernel_ns, run)
    for number, first in enumerate(begins):
        mine = run == number
        rows = (capture_ns[mine], kernel_ns[mine], slack[mine])
        segments.append(_segment(int(captured[first]), first, *rows))
    return ClockFit(tuple(segments))


def _segment(
    begin_ns: int, first: int, capture_ns: Index, kernel_ns: Index, slack: Index
) -> Segment:
    origin = int(kernel_ns.min())
    difference = capture_ns - kernel_ns
    base = int(difference[0])  # keeps float64 exact: epoch ns need 61 bits
    y = (difference - base).astype(np.float64)
    x = (kernel_ns - origin).astype(np.float64)
    slope, unsure = _drift(x, y)
    rest = y - slope * x
    middle = float(np.median(rest))
    spread = _spread(rest)
    known = slack[slack > 0]  # the log does not show the sniffer of every packet
    residual = spread + (float(np.percentile(known, MOST)) if len(known) else 0.0) + unsure
    offset = base + round(middle)
    return Segment(
        begin_ns, first, origin, offset, slope * 1e6, round(residual), len(y), round(spread)
    )


def _spread(rest: Floats) -> float:
    return 1.4826 * float(np.median(np.abs(rest - np.median(rest))))


def _drift(x: Floats, y: Floats) -> tuple[float, float]:
    """The slope, and how far an error in it may carry the clock within the segment, ns."""
    span = float(np.ptp(x))
    slope = _slope(x, y)
    spread = _spread(y - slope * x)
    if abs(slope) > MAX_DRIFT_PPM * 1e-6 or abs(slope) * span <= CLEAR * spread:
        return 0.0, min(abs(slope) * span / 2, _spread(y))
    if len(x) < FEW:  # it may be jitter: then it is as wrong as it is large
        return slope, abs(slope) * span
    return slope, spread * 3 / max(len(x), 1) ** 0.5


def _slope(x: Floats, y: Floats) -> float:
    if len(x) < MIN_DRIFT_PAIRS:
        return 0.0
    half = len(x) // 2
    order = np.argsort(x, kind="stable")
    low, high = order[:half], order[-half:]
    step = max(1, half // MAX_SLOPES)
    run = (x[high] - x[low])[::step]
    rise = (y[high] - y[low])[::step]
    return float(np.median(rise[run > 0] / run[run > 0])) if np.any(run > 0) else 0.0

# SPDX-License-Identifier: MIT
"""Fit the sniffer's clock to the KBL's clock from pairs whose match is certain.

Only a result of matching by identity, never its reason.  Robust: median offset, Theil-Sen drift
(Sen 1968), residual as 1.4826 x median absolute deviation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .pairing import Index

MIN_DRIFT_PAIRS = 8
MIN_DRIFT_SPAN_NS = 1_000_000_000  # below a second, drift drowns in jitter
MAX_SLOPES = 2000
FLOOR_NS = 1_000  # a residual below this is not believed when distances are judged


class ClockFit(NamedTuple):
    """capture time = KBL time + offset_ns + drift_ppm * 1e-6 * (KBL time - origin_ns)."""

    origin_ns: int
    offset_ns: int
    drift_ppm: float
    residual_ns: int
    pairs: int

    def to_kernel(self, capture_ns: Index) -> Index:
        """Capture times on the KBL's clock, ns."""
        rough = capture_ns - self.offset_ns
        drift = (rough - self.origin_ns).astype(np.float64) * (self.drift_ppm * 1e-6)
        return np.asarray(rough - np.rint(drift).astype(np.int64), np.int64)


def fit(capture_ns: Index, kernel_ns: Index) -> ClockFit | None:
    """The fit of equally long arrays of times of the same packets; None without any pair."""
    if not len(capture_ns):
        return None
    origin = int(kernel_ns.min())
    difference = capture_ns - kernel_ns
    base = int(difference[0])  # keeps float64 exact: epoch ns need 61 bits
    y = (difference - base).astype(np.float64)
    x = (kernel_ns - origin).astype(np.float64)
    slope = _slope(x, y)
    rest = y - slope * x
    middle = float(np.median(rest))
    residual = 1.4826 * float(np.median(np.abs(rest - middle)))
    return ClockFit(origin, base + round(middle), slope * 1e6, round(residual), len(y))


def _slope(
    x: np.ndarray[tuple[int], np.dtype[np.float64]], y: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> float:
    if len(x) < MIN_DRIFT_PAIRS or float(np.ptp(x)) < MIN_DRIFT_SPAN_NS:
        return 0.0
    half = len(x) // 2
    order = np.argsort(x, kind="stable")
    low, high = order[:half], order[-half:]
    step = max(1, half // MAX_SLOPES)
    run = (x[high] - x[low])[::step]
    rise = (y[high] - y[low])[::step]
    return float(np.median(rise[run > 0] / run[run > 0])) if np.any(run > 0) else 0.0

# SPDX-License-Identifier: MIT
"""Times under way between two hosts are the intervals that two-way traffic allows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.matching import Trips, bound
from skbviewer.matching.oneway import joined

MS = 1_000_000
AHEAD = 77_123_456_789  # clock b - clock a


def traffic(there: npt.NDArray[np.int64], back: npt.NDArray[np.int64], drift_ppm: int = 0) -> Trips:
    """Packets sent every millisecond, in turn from a to b and from b to a, with these delays."""
    count = len(there)
    sent = np.arange(2 * count, dtype=np.int64) * MS
    onward = np.arange(2 * count) % 2 == 0
    delay = np.zeros(2 * count, np.int64)
    delay[onward], delay[~onward] = there, back
    got = sent + delay
    a_ns, at_b = np.where(onward, sent, got), np.where(onward, got, sent)
    b_ns = at_b + AHEAD + at_b * drift_ppm // 1_000_000
    number = np.arange(2 * count)
    return Trips(number, number, a_ns, b_ns, onward)


RNG = np.random.default_rng(5)
THERE = 200_000 + RNG.exponential(50_000, 500).astype(np.int64)
BACK = 350_000 + RNG.exponential(80_000, 500).astype(np.int64)


@pytest.mark.parametrize("drift_ppm", [0, 150, -40])
def test_the_truth_lies_in_the_interval(drift_ppm: int) -> None:
    found = traffic(THERE, BACK, drift_ppm)
    way = bound(found)
    assert way is not None
    assert (way.onward, way.back) == (500, 500)
    low, high = way.offset(found.a_ns)
    truth = AHEAD + found.a_ns * drift_ppm // 1_000_000
    slack = 0 if drift_ppm == 0 else 30_000  # the drift is an estimate
    assert (low - slack <= truth).all()
    assert (truth <= high + slack).all()
    least, most = way.took(found.a_ns, found.b_ns, found.onward)
    delay = np.where(found.onward, np.repeat(THERE, 2), np.repeat(BACK, 2))
    assert (least - slack <= delay).all()
    assert (delay <= most + slack).all()
    assert (least >= -slack).all()


def test_the_interval_is_as_wide_as_the_fastest_round_trip() -> None:
    way = bound(traffic(THERE, BACK))
    assert way is not None
    assert way.high_ns - way.low_ns == THERE.min() + BACK.min()


def test_one_way_traffic_bounds_nothing() -> None:
    found = traffic(THERE, BACK)
    there = Trips._make(column[found.onward] for column in found)
    assert bound(there) is None
    assert bound(Trips._make(column[~found.onward] for column in found)) is None


def test_without_packets_there_is_nothing() -> None:
    assert bound(Trips._make(column[:0] for column in traffic(THERE, BACK))) is None


def test_a_clock_that_is_set_leaves_no_interval() -> None:
    found = traffic(THERE, BACK)
    found.b_ns[500:] += 5_000 * MS
    assert bound(found) is None


def test_a_packet_that_two_captures_saw_counts_once() -> None:
    found = traffic(THERE, BACK)
    way, twice = bound(found), bound(joined([found, found]))
    assert way is not None
    assert twice is not None
    assert (twice.low_ns, twice.high_ns, twice.onward) == (way.low_ns, way.high_ns, way.onward)

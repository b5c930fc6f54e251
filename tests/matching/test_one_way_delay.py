# SPDX-License-Identifier: MIT
"""Times under way between two hosts are the intervals that two-way traffic allows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.matching import Trips, clock_bounds
from skbviewer.matching.one_way_delay import all_trips

MS = 1_000_000
AHEAD = 77_123_456_789  # clock b - clock a


def traffic(
    there: npt.NDArray[np.int64],
    back: npt.NDArray[np.int64],
    drift_ppm: int = 0,
    every_ns: int = MS,
) -> Trips:
    """Return packets sent alternately from a to b and from b to a, with these delays."""
    count = len(there)
    sent = np.arange(2 * count, dtype=np.int64) * every_ns
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


@pytest.mark.parametrize("drift_ppm", [0, 2, 20, -18, 150, -40, 950, -990])
@pytest.mark.parametrize("every_ns", [MS, 30 * MS])
def test_the_truth_lies_in_the_interval(drift_ppm: int, every_ns: int) -> None:
    """This includes a drift that is small beside the delays, and one that a few seconds hide."""
    found = traffic(THERE, BACK, drift_ppm, every_ns)
    way = clock_bounds(found)
    assert way is not None
    assert (way.onward, way.back) == (500, 500)
    low, high = way.offset(found.a_ns)
    truth = AHEAD + found.a_ns * drift_ppm // 1_000_000
    assert (low <= truth).all()
    assert (truth <= high).all()
    assert way.least_ppm <= drift_ppm <= way.most_ppm
    least, most = way.transit_times(found.a_ns, found.b_ns, found.onward)
    delay = np.where(found.onward, np.repeat(THERE, 2), np.repeat(BACK, 2))
    assert (least <= delay + 1).all()
    assert (delay <= most + 1).all()
    assert (least >= 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_truth_lies_in_the_interval_before_and_after_the_traffic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    there, back = 100_000 + rng.exponential(100_000, (2, 40)).astype(np.int64)
    drift_ppm = int(rng.integers(-100, 100))
    way = clock_bounds(traffic(there, back, drift_ppm, 50 * MS))
    assert way is not None
    times = np.arange(-60, 60) * 1000 * MS
    low, high = way.offset(times)
    truth = AHEAD + times * drift_ppm // 1_000_000
    assert ((low <= truth) & (truth <= high)).all()
    origin, middle, ppm = way.middle()
    line = middle + np.rint((times - origin) * ppm * 1e-6)
    assert ((low <= line) & (line <= high)).all()


@pytest.mark.parametrize("drift_ppm", [0, 20])
def test_the_interval_is_little_wider_than_the_fastest_round_trip(drift_ppm: int) -> None:
    found = traffic(THERE, BACK, drift_ppm)
    way = clock_bounds(found)
    assert way is not None
    low, high = way.offset(found.a_ns)
    fastest = THERE.min() + BACK.min()
    assert fastest * 0.9 <= (high - low).min()
    assert np.median(high - low) <= fastest * 1.1


def test_packets_between_a_few_slow_ones_are_known_better() -> None:
    """The interval is of each packet's time, not of all of the traffic."""
    there, back = np.full(200, 200_000), np.full(200, 200_000)
    there[:50] = there[-50:] = 900_000
    back[:50] = back[-50:] = 900_000
    found = traffic(there, back, 30, 30 * MS)
    way = clock_bounds(found)
    assert way is not None
    least, most = way.transit_times(found.a_ns, found.b_ns, found.onward)
    assert (most - least)[150:250].max() < 420_000 < 600_000 < (most - least)[[0, -1]].min()


def test_one_way_traffic_bounds_nothing() -> None:
    found = traffic(THERE, BACK)
    there = Trips._make(column[found.onward] for column in found)
    assert clock_bounds(there) is None
    assert clock_bounds(Trips._make(column[~found.onward] for column in found)) is None


def test_without_packets_there_is_nothing() -> None:
    assert clock_bounds(Trips._make(column[:0] for column in traffic(THERE, BACK))) is None


def test_a_clock_that_is_set_leaves_no_interval() -> None:
    found = traffic(THERE, BACK)
    found.b_ns[500:] += 5_000 * MS
    assert clock_bounds(found) is None


def test_a_packet_that_two_captures_saw_counts_once() -> None:
    found = traffic(THERE, BACK)
    way, twice = clock_bounds(found), clock_bounds(all_trips([found, found]))
    assert way is not None
    assert twice is not None
    assert twice.onward == way.onward
    assert np.array_equal(twice.low_ns, way.low_ns) and np.array_equal(twice.high_ns, way.high_ns)

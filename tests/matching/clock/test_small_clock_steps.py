# SPDX-License-Identifier: MIT
"""A clock that was set by less than shows in the differences of two clocks."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.matching.clock.clock_fit import TimedPairs, fit
from skbviewer.matching.clock.feasible_lines import Intervals
from skbviewer.matching.clock.small_clock_steps import MIN_PACKETS, Cut, cuts

MS, US, STEEPEST = 1_000_000, 1_000, 1e-3


def stamped(steps: dict[int, int], count: int = 100, wide: int = 10 * US) -> Intervals:
    """Packets, one each ms, stamped within `wide`; the clock is set by so much before a packet."""
    rng = np.random.default_rng(7)
    off = np.zeros(count)
    for packet, step in steps.items():
        off[packet:] += step
    early = rng.integers(0, wide, count).astype(np.float64)
    return Intervals(np.arange(count, dtype=np.float64) * MS, off - early, off - early + wide)


def test_a_steady_clock_is_not_cut() -> None:
    assert cuts(stamped({}), STEEPEST) == []


@pytest.mark.parametrize("step", [50 * US, -50 * US, 5 * MS])
def test_a_step_is_found_between_the_packets_that_it_parts(step: int) -> None:
    (cut,) = cuts(stamped({40: step}), STEEPEST)
    assert cut.last < 40 <= cut.first and cut.first - cut.last <= 3


def test_several_steps() -> None:
    made = cuts(stamped({30: 60 * US, 60: -90 * US}), STEEPEST)
    assert [one.first for one in made] == [30, 60]
    assert made[0] == Cut(29, 30)


def test_packets_that_fit_both_clocks_are_between() -> None:
    """A step of half a window is not where its first packet shows it."""
    (cut,) = cuts(stamped({50: 7 * US}, wide=10 * US), STEEPEST)
    assert cut.last < 49 and cut.first >= 50


def test_a_packet_that_stands_alone_is_no_step() -> None:
    rows = stamped({})
    rows.low[20] += 90 * US
    rows.high[20] += 90 * US
    assert cuts(rows, STEEPEST) == []


def test_stamps_that_scatter_are_not_cut() -> None:
    """A sniffer of another host has such times: no clock passes MIN_PACKETS of them."""
    rng = np.random.default_rng(5)
    scattered = rng.integers(0, 500 * US, 200).astype(np.float64)
    rows = Intervals(np.arange(200, dtype=np.float64) * MS, scattered, scattered + 10 * US)
    assert cuts(rows, STEEPEST) == []


def test_a_piece_has_packets_of_its_own() -> None:
    assert cuts(stamped({MIN_PACKETS - 2: 50 * US}), STEEPEST) == []


def test_a_fit_has_a_segment_for_each_clock_and_one_for_packets_between() -> None:
    kernel = np.arange(100, dtype=np.int64) * MS
    captured = kernel + 5 * US + np.where(kernel >= 40 * MS, 200 * US, 0)
    every = np.delete(np.arange(100), [38, 39, 40, 41])  # these are not known
    some = kernel[every]
    found = fit(TimedPairs(every, some + 5 * US, some, some + 10 * US), captured)
    assert found is not None
    first, between, second = found.segments
    assert (first.first, between.first, second.first) == (0, 38, 42)
    assert (first.torn_ns, between.pairs, second.torn_ns) == (0, 0, 0)
    number = np.arange(100)
    off = np.abs(found.to_kernel(captured, number) - (kernel + 5 * US))
    assert (off <= found.error(captured, number)).all()
    assert between.residual_ns >= 200 * US > 3 * max(first.residual_ns, second.residual_ns)

# SPDX-License-Identifier: MIT
"""Where a clock was set: one place between two packets, or one of several."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.matching.clock.clock_fit import TimedPairs, fit
from skbviewer.matching.clock.clock_steps import Border, borders

MS = 1_000_000
KERNEL = np.arange(40, dtype=np.int64) * 20 * MS + 7_000_000_000
KNOWN = np.r_[0:16, 24:40]  # identity alone decides these packets


def _captured(step: int, first: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Times of a clock that was set before packet `first`."""
    return KERNEL + 5 * MS + np.where(np.arange(40) >= first, step, 0)


def _borders(step: int, first: int) -> list[Border]:
    captured = _captured(step, first)
    difference = captured[KNOWN] - KERNEL[KNOWN]
    run = (KNOWN >= 20).astype(np.int64)
    return borders(KNOWN, captured, difference, run)


@pytest.mark.parametrize("first", range(16, 25))
@pytest.mark.parametrize("step", [30 * MS, 700 * MS, -30 * MS, -700 * MS])
def test_a_leap_of_the_captures_time_shows_where(step: int, first: int) -> None:
    assert _borders(step, first) == [(0, 0), (first, first)]


@pytest.mark.parametrize("first", range(16, 25))
def test_a_step_back_by_less_than_the_time_between_two_packets_may_be_anywhere(first: int) -> None:
    assert _borders(-18 * MS, first) == [(0, 0), (16, 24)]


@pytest.mark.parametrize("first", range(16, 25))
def test_either_clock_may_have_stamped_packets_where_no_leap_shows_the_step(first: int) -> None:
    captured = _captured(-18 * MS, first)
    kernel = KERNEL[KNOWN]
    clock = fit(TimedPairs(KNOWN, kernel, kernel - 1000, kernel + 1000), captured)
    assert clock is not None
    assert [(s.first, s.pairs) for s in clock.segments] == [(0, 16), (16, 0), (24, 16)]
    every = np.arange(40)
    off = np.abs(clock.to_kernel(captured, every) - KERNEL)
    assert (off <= clock.error(captured, every)).all()
    assert (off[KNOWN] == 0).all()
    assert (clock.error(captured, every)[16:24] >= 18 * MS).all()
    assert (clock.error(captured, every)[KNOWN] < 100_000).all()

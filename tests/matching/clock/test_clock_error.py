# SPDX-License-Identifier: MIT
"""The error that a clock fit states, against known truth: many small captures, made at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.matching.clock.clock_fit import ClockFit, TimedPairs, fit

DRAWS = 2000
SECOND = 1_000_000_000
EPOCH = 1_700_000_000 * SECOND
MOST_PPM = 200

Index = npt.NDArray[np.int64]


class Drawn(NamedTuple):
    """A capture: its packets' times by both clocks, and the pairs known of it."""

    kernel_ns: Index
    captured: Index
    pairs: TimedPairs


def draw(rng: np.random.Generator) -> Drawn:
    """A few packets or some dozens, not all of them pairs; a drift; perhaps a step.

    A step is beside pairs, and three on either side speak for it.  A stamp is late after a moment
    by a delay that is one-sided and long-tailed, or queueing makes it late for a while; how long
    the sniffer may have waited in all is another draw.
    """
    count = int(rng.choice([2, 5, 12, 18, 40, 120]))
    span = 10 ** rng.uniform(6.5, 10.5)  # 3 ms to 30 s
    kernel = 5 * SECOND + np.sort(rng.uniform(0, span, count)).astype(np.int64)
    typical = 10 ** rng.uniform(2.5, 5.0)  # ns
    late = rng.exponential(typical, count) * rng.choice([1, 1, 1, 20], count)
    late += typical * np.abs(np.cumsum(rng.normal(0, 0.3, count)))  # a queue grows and shrinks
    more = rng.exponential(typical * rng.choice([0.1, 1, 5]), count)
    after = kernel - late.astype(np.int64)
    before = kernel + more.astype(np.int64) + 1
    captured = kernel + EPOCH + np.rint(kernel * rng.uniform(-1, 1) * MOST_PPM * 1e-6).astype(int)
    known = np.sort(rng.choice(count, max(1, int(count * rng.uniform(0.3, 1))), replace=False))
    cut = int(rng.integers(0, count))
    sides = (known < cut).sum(), (known >= cut).sum()
    if rng.random() < 0.5 and min(sides) >= 3 and {cut - 1, cut} <= set(known.tolist()):
        captured[cut:] += int(rng.choice([-5, -1, 1, 5])) * 40 * SECOND
    shown = after if rng.random() < 0.7 else (after + before) // 2
    return Drawn(kernel, captured, TimedPairs(known, shown[known], after[known], before[known]))


def stated(clock: ClockFit, drawn: Drawn) -> tuple[Index, Index]:
    """Per packet how far the fit is off, and how far it says that it may be, ns."""
    every = np.arange(len(drawn.captured))
    error = np.abs(clock.to_kernel(drawn.captured, every) - drawn.kernel_ns)
    return error, clock.error(drawn.captured, every)


def least(drawn: Drawn) -> float:
    """Half the shortest wait among the pairs: no offset can be known better."""
    return float((drawn.pairs.before - drawn.pairs.after).min()) / 2


@pytest.fixture(scope="module")
def fits() -> list[tuple[Drawn, ClockFit]]:
    rng = np.random.default_rng(20241121)
    drawn = [draw(rng) for _ in range(DRAWS)]
    made = [fit(one.pairs, one.captured) for one in drawn]
    return [(one, clock) for one, clock in zip(drawn, made, strict=True) if clock is not None]


def test_the_truth_is_within_the_stated_error(fits: list[tuple[Drawn, ClockFit]]) -> None:
    """This holds for every packet, also for those before or after all pairs."""
    assert len(fits) == DRAWS
    outside = [
        (number, int((error - says).max()))
        for number, (error, says) in enumerate(stated(clock, one) for one, clock in fits)
        if (error > says + 1).any()  # a nanosecond is rounded away
    ]
    assert outside == []


def test_the_residual_is_the_error_where_it_is_greatest(
    fits: list[tuple[Drawn, ClockFit]],
) -> None:
    for drawn, clock in fits:
        every = np.arange(len(drawn.captured))
        says, which = clock.error(drawn.captured, every), clock.segment_of(every)
        for number, segment in enumerate(clock.segments):
            assert says[which == number].max() == segment.residual_ns


def test_the_stated_error_is_no_excuse(fits: list[tuple[Drawn, ClockFit]]) -> None:
    """It is of the size of the greatest error, and of the shortest wait where pairs are many."""
    ratios, tight = [], []
    for drawn, clock in fits:
        error, says = stated(clock, drawn)
        ratios.append(float(says.max()) / max(float(error.max()), least(drawn)))
        if len(drawn.pairs.packet) >= 30 and len(clock.segments) == 1:
            width = np.median(drawn.pairs.before - drawn.pairs.after)
            tight.append(float(says.max()) / float(width))
    assert np.median(ratios) < 3
    assert np.quantile(ratios, 0.9) < 12
    assert len(tight) > 200
    assert np.median(tight) < 1


def test_fits_with_and_without_drift_were_drawn(fits: list[tuple[Drawn, ClockFit]]) -> None:
    """And with a step: the tests above are of all of them."""
    drifting = sum(any(s.drift_ppm for s in clock.segments) for _, clock in fits)
    assert 0.1 < drifting / DRAWS < 0.9
    assert sum(len(clock.segments) == 2 for _, clock in fits) > 100

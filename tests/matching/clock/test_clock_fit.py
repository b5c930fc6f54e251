# SPDX-License-Identifier: MIT
"""The clock fit: offset exact in ns, drift, steps, robustness."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.matching.clock.clock_fit import ClockFit, Segment, TimedPairs, precision_of
from skbviewer.matching.clock.clock_fit import fit as fit_pairs
from skbviewer.matching.clock.clock_steps import STEP_NS

SECOND = 1_000_000_000
KERNEL = np.arange(20, dtype=np.int64) * 137_000_001 + 10_582_780_115
HOUR = 3600 * SECOND


Index = npt.NDArray[np.int64]


def fit(
    capture_ns: Index, kernel_ns: Index, pairs: Index | None = None, unsure_ns: int = 0
) -> ClockFit:
    """Fit a clock to `pairs`, or to all; each is stamped within `unsure_ns` of its moment."""
    pairs = np.arange(len(capture_ns)) if pairs is None else pairs
    clock = fit_pairs(
        TimedPairs(pairs, kernel_ns, kernel_ns - unsure_ns, kernel_ns + unsure_ns), capture_ns
    )
    assert clock is not None
    return clock


def one(clock: ClockFit) -> Segment:
    """The only segment."""
    (segment,) = clock.segments
    return segment


def errors(clock: ClockFit, capture_ns: Index, kernel_ns: Index) -> int:
    """The greatest error of the fit, ns."""
    at = clock.to_kernel(capture_ns, np.arange(len(capture_ns)))
    return int(np.abs(at - kernel_ns).max())


@pytest.mark.parametrize(
    "offset", [2 * SECOND, -2 * SECOND, -3 * HOUR, 56 * 31_556_952 * SECOND + 7]
)
def test_an_offset_is_exact(offset: int) -> None:
    clock = fit(KERNEL + offset, KERNEL)
    segment = one(clock)
    assert (segment.offset_ns, segment.drift_ppm, segment.residual_ns) == (offset, 0.0, 0)
    assert (segment.pairs, segment.first, segment.begin_ns) == (20, 0, int(KERNEL[0]) + offset)
    assert errors(clock, KERNEL + offset, KERNEL) == 0


@pytest.mark.parametrize("ppm", [50, -200, 500])
def test_drift_is_found(ppm: int) -> None:
    offset = 1_700_000_000 * SECOND
    kernel = np.arange(1000, dtype=np.int64) * 60_000_000 + 5 * SECOND  # a minute
    capture = kernel + offset + (kernel - kernel[0]) * ppm // 1_000_000
    clock = fit(capture, kernel)
    assert one(clock).drift_ppm == pytest.approx(ppm, abs=0.001)
    assert one(clock).offset_ns == pytest.approx(offset, abs=10)
    assert errors(clock, capture, kernel) <= 10


def test_no_clock_drifts_like_that() -> None:
    kernel = np.arange(50, dtype=np.int64) * 1000
    assert one(fit(kernel + np.arange(50) * 10, kernel)).drift_ppm == 0.0


def test_jitter_on_few_pairs_is_no_drift() -> None:
    capture = KERNEL[:7] + np.array([0, 900, 100, 800, 0, 500, 900])
    assert one(fit(capture, KERNEL[:7])).drift_ppm == 0.0


def test_a_drift_that_is_not_believed_is_in_the_residual() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 40_000, 20).astype(np.int64)
    capture = KERNEL + (KERNEL - KERNEL[0]) // 20_000 + noise  # 50 ppm of 2.6 s: 130 us
    clock = fit(capture, KERNEL)
    assert one(clock).drift_ppm == 0.0
    assert errors(clock, capture - noise, KERNEL) <= 2 * one(clock).residual_ns


def test_a_few_outliers_do_not_matter() -> None:
    capture = KERNEL + 2 * SECOND
    capture[[3, 11, 17]] += 5 * SECOND
    segment = one(fit(capture, KERNEL))
    assert (segment.offset_ns, segment.residual_ns, segment.pairs) == (2 * SECOND, 0, 17)
    assert segment.drift_ppm == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("step", [5 * SECOND, -5 * SECOND, 20_000_000])
@pytest.mark.parametrize("at", [3, 10, 17])
def test_a_clock_that_is_set_makes_another_segment(step: int, at: int) -> None:
    capture = KERNEL.copy()
    capture[at:] += step
    clock = fit(capture, KERNEL)
    assert [(s.first, s.offset_ns, s.pairs) for s in clock.segments] == [
        (0, 0, at),
        (at, step, 20 - at),
    ]
    assert clock.segments[1].begin_ns == capture[at]
    assert errors(clock, capture, KERNEL) == 0


def test_a_step_among_outliers_is_found() -> None:
    capture = KERNEL.copy()
    capture[10:] += 5 * SECOND
    capture[[2, 9, 10, 15]] += np.array([7, -3, 11, 60]) * SECOND
    clock = fit(capture, KERNEL)
    assert [(s.offset_ns, s.pairs) for s in clock.segments] == [(0, 8), (5 * SECOND, 8)]


def test_a_clock_that_is_set_twice() -> None:
    capture = KERNEL.copy()
    capture[6:] += 5 * SECOND
    capture[12:] -= 5 * SECOND
    clock = fit(capture, KERNEL)
    assert [s.first for s in clock.segments] == [0, 6, 12]
    assert errors(clock, capture, KERNEL) == 0


def test_the_boundary_is_where_the_captures_time_leaps() -> None:
    """Packets 9 to 12 are no pairs: the clock was set between 10 and 11."""
    capture = KERNEL.copy()
    capture[11:] += 5 * SECOND
    pairs = np.array([*range(9), *range(13, 20)])
    clock = fit(capture, KERNEL[pairs], pairs)
    assert [s.first for s in clock.segments] == [0, 11]


def test_late_packets_are_no_clock() -> None:
    capture = KERNEL.copy()
    capture[[5, 6]] += SECOND  # two of them wait for as long
    clock = fit(capture, KERNEL)
    assert one(clock).pairs == 18


def test_one_packet_that_was_at_several_points_is_no_clock() -> None:
    """A damaged log may have it at two devices, in two lives that look like one."""
    pairs = np.sort(np.r_[np.arange(20), [9] * 5])
    kernel = KERNEL[pairs]
    kernel[9:12] += 7 * SECOND
    kernel[12:15] += 9 * SECOND
    clock = fit(KERNEL, kernel, pairs)
    assert [(s.offset_ns, s.pairs) for s in clock.segments] == [(0, 19)]


def test_two_pairs_that_contradict_each_other_make_one_segment() -> None:
    clock = fit(KERNEL[:2] + np.array([0, SECOND]), KERNEL[:2])
    assert one(clock).pairs == 2
    assert one(clock).residual_ns > 0


def test_pairs_that_scatter_over_seconds_speak_for_no_clock() -> None:
    capture = KERNEL + np.arange(20) % 5 * SECOND
    clock = fit(capture, KERNEL)
    assert one(clock).pairs == 20
    assert one(clock).spread_ns > STEP_NS  # same_traffic.py trusts no such segment


def test_the_residual_is_what_the_moments_leave_open() -> None:
    """The offset lies within 700 ns, and the drift turns the line by no more."""
    assert one(fit(KERNEL, KERNEL, unsure_ns=700)).residual_ns == 700
    capture = KERNEL + SECOND + np.tile([-1000, 1000], 10)
    tight = one(fit(capture, KERNEL, unsure_ns=1000))
    assert tight.residual_ns == tight.spread_ns == pytest.approx(1483, abs=1)


def test_the_residual_grows_with_the_distance_from_the_pairs() -> None:
    """Three pairs within 2 ms leave the drift open; a packet comes ten seconds later."""
    kernel = np.array([0, 1, 2, 10_000], np.int64) * 1_000_000
    clock = fit(kernel, kernel[:3], np.arange(3), unsure_ns=50)
    assert one(clock).residual_ns == pytest.approx(50 + 9999e6 * 50e-6, rel=0.01)


def test_one_pair_does_not_determine_the_drift() -> None:
    kernel = np.array([0, SECOND], np.int64)
    assert one(fit(kernel, kernel[:1], np.arange(1))).residual_ns == 1_000_000


def test_moments_that_no_clock_fits_are_in_the_residual() -> None:
    capture = KERNEL[:10] + np.array([0, 0, 0, 40_000, 40_000] * 2)
    assert one(fit(capture, KERNEL[:10], unsure_ns=100)).residual_ns >= 40_000


def test_a_wrong_pair_of_many_is_not_in_the_residual() -> None:
    capture = KERNEL.copy()
    capture[7] += 9_000_000
    assert one(fit(capture, KERNEL, unsure_ns=100)).residual_ns < 200


def test_without_pairs_there_is_no_fit() -> None:
    none = np.zeros(0, np.int64)
    assert fit_pairs(TimedPairs(none, none, none, none), none) is None


@pytest.mark.parametrize(
    ("step_ns", "precision"),
    [(1, 1), (1_000, 1_000), (20_000, 20_000), (10**9, 10**9), (10**9 / 2**13, 3815)],
)
def test_the_precision_of_times_is_what_they_are_multiples_of(
    step_ns: float, precision: int
) -> None:
    numbers = np.arange(50, dtype=np.int64) * 7919 + 1
    times = 1_700_000_000 * 10**9 + np.floor(numbers * step_ns).astype(np.int64)
    assert precision_of(times) == precision

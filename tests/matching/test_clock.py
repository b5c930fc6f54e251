# SPDX-License-Identifier: MIT
"""The clock fit: offset exact in ns, drift, robustness."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.matching.clock import fit

SECOND = 1_000_000_000
KERNEL = np.arange(20, dtype=np.int64) * 137_000_001 + 10_582_780_115


@pytest.mark.parametrize("offset", [2 * SECOND, -2 * SECOND, 56 * 31_556_952 * SECOND + 7])
def test_an_offset_is_exact(offset: int) -> None:
    clock = fit(KERNEL + offset, KERNEL)
    assert clock is not None
    assert (clock.offset_ns, clock.drift_ppm, clock.residual_ns) == (offset, 0.0, 0)
    assert clock.pairs == 20
    assert clock.to_kernel(KERNEL + offset).tolist() == KERNEL.tolist()


def test_drift_is_found() -> None:
    offset = 1_700_000_000 * SECOND
    kernel = np.arange(1000, dtype=np.int64) * 60_000_000 + 5 * SECOND  # a minute
    capture = kernel + offset + (kernel - kernel[0]) * 50 // 1_000_000
    clock = fit(capture, kernel)
    assert clock is not None
    assert clock.drift_ppm == pytest.approx(50, abs=0.001)
    assert clock.offset_ns == pytest.approx(offset, abs=10)
    # to_kernel takes the drift of the capture's clock, 50 ppm of 50 ppm off: 150 ns a minute
    assert np.abs(clock.to_kernel(capture) - kernel).max() <= 160


def test_jitter_on_few_pairs_is_no_drift() -> None:
    capture = KERNEL[:7] + np.array([0, 900, 100, 800, 0, 500, 900])
    clock = fit(capture, KERNEL[:7])
    assert clock is not None
    assert clock.drift_ppm == 0.0


def test_jitter_in_a_short_time_is_no_drift() -> None:
    kernel = np.arange(50, dtype=np.int64) * 1000
    clock = fit(kernel + np.arange(50) * 10, kernel)
    assert clock is not None
    assert clock.drift_ppm == 0.0


def test_a_few_outliers_do_not_matter() -> None:
    capture = KERNEL + 2 * SECOND
    capture[[3, 11, 17]] += 5 * SECOND
    clock = fit(capture, KERNEL)
    assert clock is not None
    assert clock.offset_ns == 2 * SECOND
    assert clock.drift_ppm == pytest.approx(0, abs=1e-6)
    assert clock.residual_ns == 0


def test_the_residual_is_the_spread() -> None:
    capture = KERNEL + SECOND + np.tile([-1000, 1000], 10)
    clock = fit(capture, KERNEL)
    assert clock is not None
    assert clock.residual_ns == pytest.approx(1483, rel=0.1)


def test_without_pairs_there_is_no_fit() -> None:
    none = np.zeros(0, np.int64)
    assert fit(none, none) is None

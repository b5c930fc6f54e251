# SPDX-License-Identifier: MIT
"""Errors of means are right for independent data, and not too small for dependent ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.analysis.comparison.block_standard_errors import errors_of_groups, relative_errors

BLOCKS, LONGEST, EACH = 128, 8, 100
Floats = npt.NDArray[np.float64]


def by_block(value: Floats) -> tuple[Floats, Floats]:
    """Sums and numbers of BLOCKS blocks of each column."""
    sums = value.reshape(BLOCKS, -1, value.shape[1]).sum(axis=1)
    return sums, np.full(sums.shape, len(value) / BLOCKS)


def series(rng: np.random.Generator, items: int, memory: float) -> Floats:
    """Autoregressive series with variance 1 and mean 10, one in each column."""
    steps = rng.normal(size=(BLOCKS * EACH, items)) * np.sqrt(1 - memory**2)
    state, found = rng.normal(size=items), np.empty(steps.shape)
    for at, step in enumerate(steps):
        state = memory * state + step
        found[at] = 10 + state
    return found


@pytest.mark.parametrize("memory", [0.0, 0.9, 0.99])
def test_errors_are_as_large_as_means_really_spread(memory: float) -> None:
    value = series(np.random.default_rng(1), 400, memory)
    errors = relative_errors(*by_block(value), LONGEST).error
    spread = value.mean(axis=0).std() / 10
    assert 0.85 * spread < np.median(errors) < 1.5 * spread


def test_ratio_of_sums_with_random_numbers() -> None:
    """A block with more calls takes longer, which is no evidence about the time of one call."""
    rng = np.random.default_rng(2)
    number = rng.integers(1, 100, (BLOCKS, 1)).astype(float)
    found = relative_errors(7.0 * number, number, LONGEST)
    assert found.error[0] == pytest.approx(0.0, abs=1e-12)
    assert found.windows[0] == 16


def test_data_of_few_windows_have_no_error() -> None:
    value = np.zeros((BLOCKS, 2))
    value[:40, 0] = 1.0  # five windows
    value[:64, 1] = 1.0  # eight
    found = relative_errors(value, np.ones((BLOCKS, 1)), LONGEST)
    assert np.isnan(found.error[0])
    assert found.freedom.tolist() == pytest.approx([0.0, 7.0])
    assert found.windows.tolist() == [5, 8]


def test_one_outlier_is_no_evidence() -> None:
    value = np.ones((BLOCKS, 1))
    value[5] = 1e6
    assert np.isnan(relative_errors(value, np.ones((BLOCKS, 1)), LONGEST).error[0])


def test_nothing() -> None:
    found = relative_errors(np.zeros((0, 3)), np.zeros((0, 3)), 0)
    assert np.isnan(found.error).all()
    assert found.windows.tolist() == [0, 0, 0]


def test_flows_that_differ_make_means_less_certain() -> None:
    """Each of 64 flows has a value of its own: a mean is as certain as 64 values make it."""
    rng = np.random.default_rng(6)
    flows = 10 + rng.normal(size=(64, 400))
    found = errors_of_groups(flows * 1000, np.full((64, 1), 1000.0))
    spread = (flows.mean(axis=0)).std() / 10
    assert 0.9 * spread < np.median(found.error) < 1.1 * spread
    assert found.freedom == pytest.approx([63.0] * 400, rel=0.05)


def test_few_flows_show_nothing() -> None:
    value = np.zeros((64, 1))
    value[:5] = 1.0
    found = errors_of_groups(value, value)
    assert np.isnan(found.error[0])
    known = relative_errors(np.ones((BLOCKS, 1)), np.ones((BLOCKS, 1)), LONGEST)
    assert known.at_least(found).error.tolist() == known.error.tolist()

# SPDX-License-Identifier: MIT
"""Fast grouping and sorting agree with numpy's slow ways."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.matching.ordering import by_number, dense, fits

RNG = np.random.default_rng(5)
ADDRESSES = RNG.integers(-(1 << 63), (1 << 63) - 1, 5000)
CASES: dict[str, npt.NDArray[np.integer]] = {
    "none": np.zeros(0, np.int64),
    "one": np.array([-7]),
    "small": RNG.integers(-3, 300, 1000),
    "bytes": RNG.integers(0, 255, 1000, np.uint8),
    "few addresses": ADDRESSES[RNG.integers(0, 50, 200_000)],
    "many addresses": ADDRESSES[RNG.integers(0, 5000, 200_000)],
    "all different": RNG.integers(-(1 << 63), (1 << 63) - 1, 200_000),
    "extremes": np.array([-(1 << 63), (1 << 63) - 1, 0, -1, 0, (1 << 63) - 1]),
    "in one place of the table": np.arange(3000) << 50,
}


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_equal_values_and_only_they_have_equal_numbers(values: npt.NDArray[np.integer]) -> None:
    number = dense(values)
    _, expected = np.unique(values, return_inverse=True)
    pairs = {(a, b) for a, b in zip(number.tolist(), expected.tolist(), strict=True)}
    distinct = len(set(expected.tolist()))
    assert len(pairs) == distinct == len({a for a, _ in pairs})
    assert sorted({a for a, _ in pairs}) == list(range(distinct))


@pytest.mark.parametrize("high", [1, 10, 1 << 16, (1 << 16) + 1, 1 << 20, 1 << 40])
def test_the_order_is_stable(high: int) -> None:
    numbers = RNG.integers(0, high, 100_000)
    assert np.array_equal(by_number(numbers), np.argsort(numbers, kind="stable"))


def test_what_fits() -> None:
    assert fits(1 << 31, 1 << 31)
    assert not fits(1 << 32, 1 << 31)

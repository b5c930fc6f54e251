# SPDX-License-Identifier: MIT
"""Fast grouping and sorting agree with numpy's slow ways."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.matching.ordering import by_number, fits

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("high", [1, 10, 1 << 16, (1 << 16) + 1, 1 << 20, 1 << 40])
def test_the_order_is_stable(high: int) -> None:
    numbers = RNG.integers(0, high, 100_000)
    assert np.array_equal(by_number(numbers), np.argsort(numbers, kind="stable"))


def test_what_fits() -> None:
    assert fits(1 << 31, 1 << 31)
    assert not fits(1 << 32, 1 << 31)

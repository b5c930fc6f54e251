# SPDX-License-Identifier: MIT
"""Equal values, and only they, have equal numbers, in whatever parts they come."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.matching import IntIndex, blocks

RNG = np.random.default_rng(5)
ADDRESSES = RNG.integers(-(1 << 63), (1 << 63) - 1, 5000)
CASES: dict[str, npt.NDArray[np.int64]] = {
    "none": np.zeros(0, np.int64),
    "one": np.array([-7]),
    "small": RNG.integers(-3, 300, 1000),
    "few addresses": ADDRESSES[RNG.integers(0, 50, 200_000)],
    "many addresses": ADDRESSES[RNG.integers(0, 5000, 200_000)],
    "all different": RNG.integers(-(1 << 63), (1 << 63) - 1, 200_000),
    "extremes": np.array([-(1 << 63), (1 << 63) - 1, 0, -1, 0, (1 << 63) - 1]),
    "in one place of the table": np.arange(3000) << 50,
}


@pytest.mark.parametrize("size", [7, 1 << 20])
@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_equal_values_and_only_they_have_equal_numbers(
    values: npt.NDArray[np.int64], size: int
) -> None:
    numbering, some = IntIndex(), values[:20_000]
    number = [
        n for rows in blocks(len(some), size) for n in numbering.numbers_of(some[rows]).tolist()
    ]
    seen: dict[int, int] = {}
    expected = [seen.setdefault(v, len(seen)) if v else -1 for v in some.tolist()]
    assert number == expected
    assert numbering.count == len(seen)

# SPDX-License-Identifier: MIT
"""Distinct values and their codes, compared with numpy's sorting."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.store.views.distinct_values import distinct, pairs

FULL = np.iinfo(np.int64)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize("span", [1, 100, 1 << 20, 1 << 40])
@pytest.mark.parametrize("count", [0, 1, 5000])
def test_codes_lead_back_to_the_values(dtype: type, span: int, count: int) -> None:
    rng = np.random.default_rng(count + span)
    limit = min(span, int(np.iinfo(dtype).max))
    values: npt.NDArray[Any] = rng.integers(-limit, limit, count).astype(dtype)
    codes, found = distinct(values)
    assert found.dtype == np.int64 and codes.dtype == np.int32
    assert (found[codes] == values).all()
    assert sorted(found.tolist()) == np.unique(values).tolist()


def test_the_extremes_of_int64_are_distinct() -> None:
    values = np.array([FULL.min, FULL.max, 0, -1, FULL.min], np.int64)
    codes, found = distinct(values)
    assert found[codes].tolist() == values.tolist()
    assert len(found) == 4


def test_pairs_are_distinct_by_both_values() -> None:
    rng = np.random.default_rng(7)
    one, two = rng.integers(0, 9, 3000), rng.integers(-(1 << 60), 1 << 60, 3000) >> 55
    codes, ones, twos = pairs(one, two)
    assert (ones[codes] == one).all() and (twos[codes] == two).all()
    assert len(ones) == len({*zip(one.tolist(), two.tolist(), strict=True)})

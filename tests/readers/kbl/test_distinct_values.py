# SPDX-License-Identifier: MIT
from __future__ import annotations

import numpy as np
import pytest

from skbviewer.readers.kbl.distinct_values import BLOCK, FIRST_SLOTS, distinct

EDGES = [np.iinfo(np.int64).min, -1, 0, 1, np.iinfo(np.int64).max]


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8"])
@pytest.mark.parametrize("count", [0, 1, BLOCK + 1])
def test_each_value_once(dtype: str, count: int) -> None:
    values = np.random.default_rng(1).integers(-100, 100, count).astype(dtype)
    np.testing.assert_array_equal(distinct(values), np.unique(values))


@pytest.mark.parametrize(
    "many", [FIRST_SLOTS // 2 - 1, FIRST_SLOTS // 2, FIRST_SLOTS // 2 + 1, 40 * FIRST_SLOTS]
)
def test_more_values_than_the_table_had_room_for(many: int) -> None:
    values = np.arange(many, dtype=np.int64) << 32
    values = np.random.default_rng(1).permutation(np.concatenate([values, values, EDGES]))
    np.testing.assert_array_equal(distinct(values), np.unique(values))

# SPDX-License-Identifier: MIT
"""Joining by hashes, against comparing all with all."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.matching.arrays.hash_join import by_group, column_hashes, is_in, join, key_counts

TOP = np.uint64(1) << np.uint64(63)


@pytest.mark.parametrize("limit", [0, 1, 3])
@pytest.mark.parametrize("left, right", [(0, 0), (0, 5), (5, 0), (1, 1), (40, 60), (400, 30)])
def test_all_pairs_of_equal_hashes_in_order(left: int, right: int, limit: int) -> None:
    dice = np.random.default_rng(left * 100 + right)
    asked, keys = (dice.integers(0, 12, n).astype(np.uint64) * TOP // 11 for n in (left, right))
    i, j, many = join(asked, keys, limit)
    partners = [np.flatnonzero(keys == key).tolist() for key in asked]
    few = [own if not limit or len(own) <= limit else [] for own in partners]
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [
        (n, other) for n, own in enumerate(few) for other in own
    ]
    assert many.tolist() == [bool(limit) and len(own) > limit for own in partners]


@pytest.mark.parametrize("asked, few", [(0, 0), (5, 0), (0, 3), (400, 1), (400, 6)])
def test_keys_among_others_and_those_that_share_one(asked: int, few: int) -> None:
    dice = np.random.default_rng(asked + few)
    keys, others = (dice.integers(0, 12, n).astype(np.uint64) * TOP // 11 for n in (asked, few))
    assert is_in(keys, others).tolist() == np.isin(keys, others).tolist()
    assert key_counts(keys).tolist() == [int(np.count_nonzero(keys == key)) for key in keys]


def test_columns_of_one_row_do_not_hash_as_those_of_another() -> None:
    values = np.arange(1 << 16)
    assert len(np.unique(column_hashes([values >> 8, values & 0xFF]))) == len(values)
    assert len(np.unique(column_hashes([values & 0xFF, values >> 8]))) == len(values)


@pytest.mark.parametrize("size, swaps", [(0, 0), (1, 0), (300, 0), (300, 9), (300, 900)])
def test_rows_by_group_and_value(size: int, swaps: int) -> None:
    dice = np.random.default_rng(size + swaps)
    group, value = np.sort(dice.integers(0, 60, size)), np.sort(dice.integers(-9, 40, size))
    for _ in range(swaps):
        i, j = dice.integers(0, size, 2)
        group[[i, j]], value[i] = group[[j, i]], value[j]
    assert by_group(group, value).tolist() == np.lexsort((value, group)).tolist()
    assert by_group(group.astype(np.int8), value).tolist() == by_group(group, value).tolist()

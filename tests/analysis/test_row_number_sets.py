# SPDX-License-Identifier: MIT
"""Sets of row numbers are those of numpy."""

from __future__ import annotations

import numpy as np

from skbviewer.analysis.row_number_sets import distinct, flags_of, places_of


def test_distinct_values_are_those_of_unique() -> None:
    rng = np.random.default_rng(7)
    for size in (0, 1, 2, 50):
        values = rng.integers(-5, 20, size)
        assert distinct(values).tolist() == np.unique(values).tolist()


def test_ascending_values_are_not_copied() -> None:
    values = np.arange(5)
    assert distinct(values) is values


def test_flags_mark_the_rows() -> None:
    assert flags_of(np.array([2, 0, 2]), 4).tolist() == [True, False, True, False]


def test_places_are_the_first_of_equal_numbers() -> None:
    numbers = np.array([2, 5, 5, 9])
    assert places_of(np.array([5, 9, 1, 10, 2, 6]), numbers).tolist() == [1, 3, -1, -1, 0, -1]
    assert places_of(np.array([5, 9]), numbers[:0]).tolist() == [-1, -1]

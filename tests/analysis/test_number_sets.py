# SPDX-License-Identifier: MIT
"""Sets of row numbers are those of numpy."""

from __future__ import annotations

import numpy as np

from skbviewer.analysis.number_sets import distinct, flags_of


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

# SPDX-License-Identifier: MIT
"""group_bounds() against a search for each number."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.group_starts import group_bounds


@pytest.mark.parametrize("of", [[], [2], [0, 0, 2, 5], [-1, -1, 0, 3, 3], [-2, -1], [5, 5, 5]])
def test_bounds_are_those_of_a_search(of: list[int]) -> None:
    numbers = np.array(of, np.int32)
    bounds = group_bounds(numbers, 6)
    assert bounds is not None
    assert bounds.tolist() == np.searchsorted(numbers, np.arange(7)).tolist()


@pytest.mark.parametrize("of", [[1, 0], [0, 6], [0, 3, 0]])
def test_unsorted_or_too_large_numbers(of: list[int]) -> None:
    assert group_bounds(np.array(of, np.int32), 6) is None

# SPDX-License-Identifier: MIT
"""Percentiles by nearest rank, of many groups at once."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.breakdown.grouped_sorting import by_group
from skbviewer.analysis.stats import spreads
from skbviewer.analysis.stats.duration_percentiles import NOTHING


def test_each_group_has_its_own_spread() -> None:
    value = np.arange(1, 101)
    group = np.r_[np.zeros(100, np.int64), [2]]
    first, second, third = spreads(group, np.r_[value[::-1], 7], 3)
    assert first == (100, 5050, 50, 50, 95, 99, 100)
    assert second == NOTHING
    assert third == (1, 7, 7, 7, 7, 7, 7)


def test_totals_exceed_what_a_float_can_count() -> None:
    big = (1 << 60) + 1
    assert spreads(np.zeros(2, np.int64), np.array([big, 2]), 1)[0].total_ns == big + 2


def test_no_groups_have_no_spread() -> None:
    nothing = np.zeros(0, np.int64)
    assert spreads(nothing, nothing, 0) == []


@pytest.mark.parametrize("scale", [1, 1 << 61, -1])
def test_values_are_sorted_by_group(scale: int) -> None:
    """This includes values that do not fit into one number together with their group."""
    rng = np.random.default_rng(7)
    group, value = rng.integers(0, 5, 1000), rng.integers(0, 3, 1000) * scale
    for number, mine in enumerate(by_group(group, value, 6)):
        assert mine.tolist() == sorted(value[group == number].tolist())

# SPDX-License-Identifier: MIT
"""Starts and ends of spans are sorted by time, and keep their numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from skbviewer.analysis.leg_times.span_order_loops import (
    FEW,
    NUMBER,
    TIME,
    sort_many,
    sort_times,
)
from skbviewer.records.types import Int64s

Sort = Callable[[int, Int64s], None]


@pytest.mark.parametrize("count", [1, 2, FEW, 10 * FEW])
@pytest.mark.parametrize("sort", [sort_many, sort_times], ids=["many", "few"])
def test_times_are_in_order_with_their_numbers(sort: Sort, count: int) -> None:
    times = np.random.default_rng(count).integers(0, 2 * count, count)
    order = np.full((2, count + 3), -1, np.int64)
    order[TIME, :count], order[NUMBER, :count] = times, np.arange(count)
    sort(count, order)
    assert order[TIME, :count].tolist() == sorted(times.tolist())
    assert times[order[NUMBER, :count]].tolist() == sorted(times.tolist())
    assert sorted(order[NUMBER, :count].tolist()) == list(range(count))
    assert (order[:, count:] == -1).all()

# SPDX-License-Identifier: MIT
"""Values at ranks of groups are those that sorting finds."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.breakdown import group_percentiles
from skbviewer.analysis.breakdown.group_percentile_loops import BUCKETS, bucket_of
from skbviewer.analysis.breakdown.group_percentiles import FEW, NOTHING, ranked
from skbviewer.records.types import Int64s

GROUPS = 7


def ranks(count: int) -> list[int]:
    return [0, (count - 1) // 2, count * 99 // 100, count - 1]


def drawn(kind: str) -> tuple[Int64s, Int64s]:
    """Values of groups; the last group is empty."""
    rng = np.random.default_rng(7)
    count = 3 * FEW
    group = rng.integers(0, GROUPS - 1, count)
    values = {
        "small": rng.integers(0, 200, count),
        "equal": np.full(count, 123_456),
        "times": rng.exponential(30_000, count).astype(np.int64),
        "huge": rng.integers(0, (1 << 63) - 1, count) >> rng.integers(0, 63, count),
    }
    return group, values[kind]


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is read."""


@pytest.mark.parametrize("kind", ["small", "equal", "times", "huge"])
def test_counting_finds_what_sorting_finds(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    group, value = drawn(kind)
    counted = ranked(group, value, GROUPS, ranks)
    monkeypatch.setattr(group_percentiles, "FEW", len(value))
    assert counted == ranked(group, value, GROUPS, ranks)
    assert counted[-1] == NOTHING
    for one in range(GROUPS - 1):
        mine = np.sort(value[group == one])
        assert counted[one].at == tuple(mine[ranks(len(mine))].tolist())
        assert counted[one].number == len(mine)


def test_buckets_rise_with_the_values() -> None:
    values = sorted(
        {0, (1 << 63) - 1, *(one for at in range(63) for one in (1 << at, 3 << at >> 1))}
    )
    found = [int(bucket_of(value)) for value in values]
    assert found == sorted(found) and found[0] == 0 and found[-1] == BUCKETS - 1

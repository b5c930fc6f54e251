# SPDX-License-Identifier: MIT
"""The median, quickest and slowest packets of groups, compared with sorting."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.analysis.breakdown.group_percentiles import ranked
from skbviewer.analysis.stats.median_and_extreme_packets import EXAMPLES, members_of


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is read."""


@pytest.mark.parametrize("spread", [3, 1000])
def test_members_are_those_of_the_sorted_packets(spread: int) -> None:
    rng = np.random.default_rng(spread)
    group, ns = np.r_[np.arange(40), rng.integers(0, 39, 3000)], rng.integers(0, spread, 3040)
    captured = rng.random(3040) < 0.5
    found = ranked(group, ns, 40, lambda count: [(count - 1) // 2])
    made = members_of(group, ns, captured, found)
    for one in range(40):
        mine = np.flatnonzero(group == one)
        mine = mine[np.lexsort((mine, ns[mine]))]
        assert made.median[one] == mine[(len(mine) - 1) // 2]
        assert made.quickest[one] == mine[0]
        slow = mine[::-1][captured[mine[::-1]]][:EXAMPLES]
        assert made.slowest(one).tolist() == slow.tolist()

# SPDX-License-Identifier: MIT
"""Numbers and median packets of path classes, compared with slow and plain computations."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from skbviewer.analysis.breakdown.path_classes import TABLE, _median_packets, _ranked


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is read."""


@pytest.mark.parametrize("different", [1, 7, TABLE // 2 + 1, 3 * TABLE])
def test_equal_values_have_a_number(different: int) -> None:
    """This also holds for more values than fit into the first hash table."""
    drawn = np.random.default_rng(different)
    kinds = drawn.integers(-(1 << 62), 1 << 62, different)
    value = kinds[drawn.integers(0, different, 2 * different + 9)]
    number, sizes = _ranked(value)
    counted = Counter(value.tolist())
    first = {one: at for at, one in reversed(list(enumerate(value.tolist())))}
    order = sorted(counted, key=lambda one: (-counted[one], first[one]))
    place = {one: at for at, one in enumerate(order)}
    assert number.tolist() == [place[one] for one in value.tolist()]
    assert sizes.tolist() == [counted[one] for one in order]


def test_no_values() -> None:
    number, sizes = _ranked(np.zeros(0, np.int64))
    assert len(number) == len(sizes) == 0


def test_the_packet_in_the_middle() -> None:
    """If packets have equal times, the one in the middle is found, too."""
    drawn = np.random.default_rng(5)
    number, ns = drawn.integers(0, 40, 3000), drawn.integers(0, 30, 3000)
    found = _median_packets(number, ns, 41)
    for one in range(40):
        mine = np.flatnonzero(number == one)
        ordered = sorted(mine.tolist(), key=lambda at: (int(ns[at]), at))
        assert found[one] == ordered[(len(ordered) - 1) // 2]

# SPDX-License-Identifier: MIT
"""Each pair of numbers keeps its value, through every growth, until it is let go."""

from __future__ import annotations

import numpy as np

from skbviewer.matching.arrays.pair_map import USED, VALUE, PairMap, cell_of, has_no_room, put

COUNT = 3000


def filled() -> tuple[PairMap, dict[tuple[int, int], int]]:
    """A table of some pairs of few numbers, and what it should hold."""
    rng, pairs, expected = np.random.default_rng(3), PairMap(), dict[tuple[int, int], int]()
    for value in range(COUNT):
        first, second = (int(n) for n in rng.integers(-40, 40, 2))
        if has_no_room(pairs.cells, pairs.used):
            pairs.grow()
        put(cell_of(first, second, pairs.cells), first, second, value, pairs.cells, pairs.used)
        expected[first, second] = value
    return pairs, expected


def held(pairs: PairMap, first: int, second: int) -> int:
    """The value of a pair, -1 = none."""
    at = int(cell_of(first, second, pairs.cells))
    return int(pairs.cells[at, VALUE]) if pairs.cells[at, USED] else -1


def test_pairs_keep_their_values() -> None:
    pairs, expected = filled()
    assert int(pairs.used[0]) == len(expected)
    assert {pair: held(pairs, *pair) for pair in expected} == expected
    assert held(pairs, 41, 0) == -1


def test_those_below_a_number_are_let_go() -> None:
    pairs, expected = filled()
    pairs.grow(0)
    left = {pair: value if pair[0] >= 0 else -1 for pair, value in expected.items()}
    assert {pair: held(pairs, *pair) for pair in expected} == left
    assert int(pairs.used[0]) == sum(value >= 0 for value in left.values())

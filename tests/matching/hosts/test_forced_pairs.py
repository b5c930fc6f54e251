# SPDX-License-Identifier: MIT
"""Forced pairs are those that all assignments have, as an enumeration of all of them shows."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np

from skbviewer.matching.hosts.forced_pairs import forced, has_no_rival
from skbviewer.matching.hosts.packet_appearances import Appearances, Pairs

Edge = tuple[int, int]


def assignments(edges: list[Edge], arrived: set[int]) -> list[set[Edge]]:
    """Return all sets of edges without a common end, in which each of `arrived` has a partner."""
    subsets = chain.from_iterable(combinations(edges, size) for size in range(len(edges) + 1))
    return [
        set(some)
        for some in subsets
        if len({a for a, _ in some}) == len({b for _, b in some}) == len(some)
        and arrived <= {b for _, b in some}
    ]


def made_of(sent: int, arrived: int) -> Appearances:
    """Return appearances of one identity: those of clock 0, then those of clock 1."""
    rows = np.arange(sent + arrived)
    clock = (rows >= sent).astype(np.int64)
    return Appearances(np.zeros_like(rows), clock, rows, rows, np.zeros_like(rows), rows)


def test_forced_pairs_are_in_all_assignments() -> None:
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(400):
        sent, arrived = rng.integers(1, 4, 2).tolist()
        edges = [(a, sent + b) for a in range(sent) for b in range(arrived) if rng.random() < 0.6]
        if not edges or {b for _, b in edges} != set(range(sent, sent + arrived)):
            continue
        all_ = assignments(edges, set(range(sent, sent + arrived)))
        if not all_:
            continue
        ends = np.array(edges).T
        yes = np.ones(len(edges), np.bool_)
        result = forced(made_of(sent, arrived), Pairs(ends[0], ends[1], yes), yes, yes)
        for edge in np.flatnonzero(result):
            assert all(edges[edge] in each for each in all_)
            found += 1
    assert found > 50


def test_a_rival_counts_in_either_direction() -> None:
    """The order of the second pair is unknown, because its ends are swapped."""
    made = made_of(2, 1)
    pairs = Pairs(np.array([0, 2]), np.array([2, 1]), np.array([True, False]))
    both = np.ones(2, np.bool_)
    assert not has_no_rival(made, pairs, both).any()
    assert not forced(made, pairs, both, np.array([True, False])).any()
    assert has_no_rival(made, pairs, np.array([True, False])).tolist() == [True, False]

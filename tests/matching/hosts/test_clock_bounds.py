# SPDX-License-Identifier: MIT
"""Bounds between clocks are the shortest paths of all constraints, and contradictions are found."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skbviewer.matching.hosts.clock_bound_loops import FAR, close_bounds, sweep
from skbviewer.matching.hosts.clock_bounds import CELL_NS, Crossings, clock_bounds
from skbviewer.matching.hosts.rough_clock_alignment import NONE, RATE, Scale

Ints = npt.NDArray[np.int64]
MS = 1_000_000


def bellman_ford(count: int, edges: list[tuple[int, int, int]]) -> list[list[int]] | None:
    """Return the shortest paths between all nodes; None if a cycle is shorter than 0."""
    made = []
    for start in range(count):
        away = [FAR] * count
        away[start] = 0
        for turn in range(count + 1):
            changed = False
            for a, b, value in edges:
                if away[a] < FAR and away[a] + value < away[b]:
                    away[b], changed = away[a] + value, True
            if not changed:
                break
            if turn == count:
                return None
        made.append(away)
    return made


def random_bounds(rng: np.random.Generator, cells: int, count: int) -> Ints:
    """Return bounds (cells, n, n), of which most are missing."""
    own = rng.integers(-3000, 20_000, (cells, count, count))
    own[rng.random(own.shape) < 0.6] = FAR
    own[:, np.arange(count), np.arange(count)] = 0
    return own


def test_closed_bounds_are_shortest_paths() -> None:
    rng = np.random.default_rng(1)
    contradictions = 0
    for _ in range(200):
        (bounds,) = random_bounds(rng, 1, 5)
        edges = [
            (a, b, int(bounds[a, b])) for a in range(5) for b in range(5) if bounds[a, b] < FAR
        ]
        wanted = bellman_ford(5, edges)
        bad = close_bounds(bounds)
        assert (bad > 0) == (wanted is None)
        if wanted is None:
            contradictions += 1
        else:
            assert bounds.tolist() == wanted
    assert 5 < contradictions < 195


def test_sweeps_carry_bounds_through_time() -> None:
    rng, rate, count, cells = np.random.default_rng(2), np.full(3, RATE), 3, 4
    at = np.array([0, 4, 5, 12]) * MS
    seen = 0
    for _ in range(200):
        own = random_bounds(rng, cells, count)
        edges = [
            (cell * count + a, cell * count + b, int(own[cell, a, b]))
            for cell in range(cells)
            for a in range(count)
            for b in range(count)
            if own[cell, a, b] < FAR
        ]
        for cell in range(cells - 1):
            drift = int(RATE * (at[cell + 1] - at[cell]))
            for a in range(count):
                here, there = cell * count + a, (cell + 1) * count + a
                edges += [(here, there, drift), (there, here, drift)]
        wanted = bellman_ford(cells * count, edges)
        if wanted is None:
            continue
        up, down = own.copy(), own.copy()
        assert sweep(at, rate, 0, cells, up) == -1
        assert sweep(at, rate, cells - 1, -1, down) == -1
        found = np.minimum(up, down)
        for cell in range(cells):
            close_bounds(found[cell])
            some = slice(cell * count, (cell + 1) * count)
            exact = np.array(wanted)[some, some]
            assert (found[cell] >= exact).all()  # each carry rounds up
            assert (found[cell] <= exact + 2 * cells).all()
        seen += 1
    assert seen > 20


def scale_of(clock: Ints, time: Ints, can_be_set: tuple[bool, ...]) -> Scale:
    """Return a scale on which sightings have these times, one segment for each clock."""
    count = len(can_be_set)
    return Scale(
        time, time, np.zeros(len(time), np.int64), clock, np.full(count, RATE), np.arange(count),
        np.array(can_be_set),
    )  # fmt: skip


def there_and_back(ahead: tuple[int, ...], times: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return clock and time of sightings, and crossings of all pairs: each takes 1 ms."""
    clock: list[int] = []
    time: list[int] = []
    a: list[int] = []
    b: list[int] = []
    for moment in times.tolist():
        for one in range(len(ahead)):
            for other in range(len(ahead)):
                if one != other:
                    a.append(len(clock))
                    clock.append(one)
                    time.append(moment + ahead[one])
                    b.append(len(clock))
                    clock.append(other)
                    time.append(moment + MS + ahead[other])
    return tuple(np.array(each) for each in (clock, time, a, b))  # type: ignore[return-value]


def test_three_clocks_never_contradict() -> None:
    ahead = (0, 3 * MS, -2 * MS)
    clock, time, a, b = there_and_back(ahead, np.arange(50) * 7 * MS)
    found = clock_bounds(scale_of(clock, time, (False, False, False)), Crossings(a, b))
    assert not found.refused.any()
    assert found.cuts == 0
    bounds = found.bounds
    for x in range(3):
        for y in range(3):
            assert (bounds[:, x, y] >= ahead[y] - ahead[x]).all()
            for z in range(3):
                assert (bounds[:, x, z] <= bounds[:, x, y] + bounds[:, y, z]).all()
    least, most = found.transit(a, b)
    assert (least <= MS).all()
    assert (most >= MS).all()
    assert (most - least < 2.2 * MS).all()


def test_a_clock_that_was_set_is_cut() -> None:
    clock, time, a, b = there_and_back((0, 0, 0), np.arange(60) * CELL_NS)
    late = (clock == 2) & (np.arange(len(clock)) >= len(clock) // 2)
    time = np.where(late, time + 5 * MS, time)
    found = clock_bounds(scale_of(clock, time, (False, False, True)), Crossings(a, b))
    assert found.cuts == 1
    assert not found.refused.any()
    least, most = found.transit(a, b)
    assert (least <= MS).all()
    assert (most >= MS).all()
    assert (found.scale.segment == NONE).sum() < len(clock) // 5


def test_pairs_that_contradict_steady_clocks_are_refused() -> None:
    clock, time, a, b = there_and_back((0, 0), np.arange(60) * CELL_NS)
    time = time.copy()
    time[b[40]] -= 30 * MS
    found = clock_bounds(scale_of(clock, time, (False, False)), Crossings(a, b))
    assert found.refused[40]
    assert found.refused.sum() < 10
    assert found.cuts == 0

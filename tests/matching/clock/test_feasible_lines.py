# SPDX-License-Identifier: MIT
"""Lines between points, beside a reference that tries the line through every two points."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

from skbviewer.matching.clock.feasible_lines import (
    Corridor,
    Intervals,
    Points,
    corridor,
    corridor_between,
)

STEEPEST = 4.0
Place = tuple[int, int]


def drawn(rng: Random) -> tuple[list[Place], list[Place]]:
    """Small sets of points above and below, with equal places, or none of one line."""
    wide = rng.choice([0, 5, 30, 200])
    tilt = rng.randrange(-3, 4)

    def points(by: int) -> list[Place]:
        places = sorted(rng.randrange(40) for _ in range(rng.randrange(1, 12)))
        return [(x, tilt * x + by + rng.randrange(-40, 40)) for x in places]

    return points(wide), points(-wide)


def columns(points: list[Place]) -> Points:
    return Points(*(np.array(column, np.float64) for column in zip(*points, strict=True)))


def slopes(above: list[Place], below: list[Place]) -> set[Fraction]:
    """Every slope at which the highest or lowest line can turn, and where the two can meet."""
    made = {Fraction(int(-STEEPEST)), Fraction(int(STEEPEST))}
    both = [*above, *below]
    for (x, y), (u, v) in product(both, both):
        if x != u and abs(Fraction(y - v, x - u)) <= STEEPEST:
            made.add(Fraction(y - v, x - u))
    return made


def room(above: list[Place], below: list[Place], slope: Fraction) -> tuple[Fraction, Fraction]:
    """The lowest and the highest value at x = 0 of a line with this slope."""
    return max(y - slope * x for x, y in below), min(y - slope * x for x, y in above)


def bounds(
    above: list[Place], below: list[Place], torn: Fraction, at: int
) -> tuple[Fraction, Fraction]:
    """The lowest and the highest value at `at` of all lines."""
    found = []
    for slope in slopes(above, below):
        low, high = room(above, below, slope)
        if low - torn <= high + torn:
            found += [low - torn + slope * at, high + torn + slope * at]
    return min(found), max(found)


def shown(made: Corridor, at: int) -> tuple[float, float]:
    low, high = made.bounds(np.array([float(at)]))
    return float(low[0]), float(high[0])


def test_all_lines_are_found() -> None:
    rng, torn_ones = Random(3), 0
    for _ in range(150):
        above, below = drawn(rng)
        made = corridor_between(columns(above), columns(below), STEEPEST)
        width = max(
            high - low for low, high in (room(above, below, s) for s in slopes(above, below))
        )
        torn = max(Fraction(0), -width / 2)
        torn_ones += torn > 0
        assert made.torn == pytest.approx(float(torn), abs=1e-9)
        for at in (0, 17, 40):
            low, high = bounds(above, below, torn, at)
            assert shown(made, at) == pytest.approx((float(low), float(high)), abs=2e-3)
        assert (np.diff(made.slope) > 0).all()
        assert (made.low <= made.high + 2e-3).all()
    assert 10 < torn_ones < 140


def test_one_of_twenty_intervals_may_be_of_other_packets() -> None:
    x = np.arange(40.0)
    low, high = x - 1, x + 1
    low[7], high[7] = 900, 901
    made = corridor(Intervals(x, low, high), STEEPEST)
    assert made.torn == 0
    first, last = shown(made, 0)
    assert (first, last) == pytest.approx((-1, 1))


def test_without_a_wrong_interval_the_lines_are_those_of_the_others() -> None:
    rng = np.random.default_rng(7)
    for _ in range(40):
        x = np.arange(40.0)
        low, high = -rng.random(40) * 9 - 1, rng.random(40) * 9 + 1
        wrong = rng.choice(40, 1)
        low[wrong] += 10_000
        high[wrong] += 10_001
        made = corridor(Intervals(x, low, high), STEEPEST)
        rest = np.delete(np.arange(40), wrong)
        alone = corridor(Intervals(x[rest], low[rest], high[rest]), STEEPEST)
        assert made.torn == alone.torn == 0
        for one, other in zip(made[:3], alone[:3], strict=True):
            assert np.array_equal(one, other)


def test_many_points() -> None:
    """More than the parts of the time: only the tightest of each part count."""
    rng = np.random.default_rng(5)
    x = np.sort(rng.integers(0, 10**12, 5000)).astype(np.float64)
    low, high = -rng.random(5000) * 1000 - 1, rng.random(5000) * 1000 + 1
    made = corridor(Intervals(x, low, high), 1e-3)
    assert made.torn == 0
    assert made.error(x[[0, -1]]).max() < 20

# SPDX-License-Identifier: MIT
"""Exact verdicts hold in every consistent assignment that an enumerator finds."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from skbviewer.matching.assignment.assignment_loops import Limits
from skbviewer.matching.assignment.forced_lifetimes import Assigned, Problem, assign
from skbviewer.matching.assignment.packet_group_loops import (
    CROWDED,
    EXACT,
    LACKING,
    NONE_IN_TIME,
    TOO_LARGE,
)

from ..cases import Drawn, draw, reduced
from ..enumerator import ABSENT, Case, answer, in_time

CASES, BATCH, PARTS = 90_000, 100, 5
APART = 1_000_000  # ns between cases of one batch: nothing joins them


@pytest.fixture(autouse=True)
def version() -> int:
    """No log is written here, so there are no versions of it."""
    return 0


class Batch(NamedTuple):
    """Cases as one problem: where the packets and pairs of each start, and pairs by (p, m)."""

    problem: Problem
    packets: list[int]
    moments: list[int]
    pair: dict[tuple[int, int], int]


@pytest.mark.parametrize("part", range(PARTS))
def test_exact_is_unanimous_and_unanimous_is_exact(part: int) -> None:
    rng, tally = Random(20261123 + part), Counter[str]()
    for _ in range(CASES // PARTS // BATCH):
        cases = [draw(rng) for _ in range(BATCH)]
        cases += [reduced(drawn, rng) for drawn in cases if rng.random() < 0.15]
        batch = joined([drawn.case() for drawn in cases])
        made = assign(batch.problem)
        for number, drawn in enumerate(cases):
            compare(number, drawn, batch, made, tally)
    print(dict(tally))
    assert tally["cases"] >= 20_000
    assert min(tally["exact"], tally["not unanimous"], tally["crowded"], tally["lacking"]) > 1000
    assert tally["honest exact"] > 1000


@pytest.mark.parametrize("limits", [Limits(0, 0), Limits(3, 0), Limits(1 << 18, 0)])
def test_beyond_the_limits_exact_is_unanimous(limits: Limits) -> None:
    """Less may be exact then, and a group that contradicts itself may not be noticed."""
    rng, tally = Random(18), Counter[str]()
    for _ in range(40):
        cases = [draw(rng).case() for _ in range(BATCH)]
        batch = joined(cases)
        made = assign(batch.problem, limits)
        for number, case in enumerate(cases):
            first, known = batch.packets[number], answer(case)
            for p, lives in enumerate(known.lives):
                life = int(made.life[first + p]) - 1000 * number
                assert life < 0 or not lives or lives == {life}, (case, p, known)
                tally["exact"] += life >= 0
                tally["too large"] += int(made.why[first + p]) == TOO_LARGE
            for p, m in known.pairs:
                pair = batch.pair[first + p, batch.moments[number] + m]
                assert made.possible[pair], (case, p, m)
    assert tally["exact"] > 1000 and (limits.steps > 3 or tally["too large"] > 100)


def compare(number: int, drawn: Drawn, batch: Batch, made: Assigned, tally: Counter[str]) -> None:
    """Compare the verdict of each packet of one case with all assignments and the truth."""
    case, first, shift = drawn.case(), batch.packets[number], batch.moments[number]
    known = answer(case)
    tally["cases"] += 1
    for p, lives in enumerate(known.lives):
        life, why = int(made.life[first + p]), int(made.why[first + p])
        where = f"packet {p} of {drawn}, {known}: {life - 1000 * number}, {why}"
        assert (life >= 0) == (why == EXACT), where
        assert why != TOO_LARGE, where
        unanimous = len(lives) == 1 and ABSENT not in lives
        assert (life == 1000 * number + next(iter(lives))) if unanimous else life < 0, where
        tally["exact" if unanimous else "not unanimous"] += 1
        tally["crowded"] += not lives
        assert (why == LACKING) == case.may_lack[p], where
        tally["lacking"] += case.may_lack[p]
        if not any(in_time(case, p, m) for m in case.options[p]):
            assert case.may_lack[p] or why == NONE_IN_TIME, where
        else:
            assert (why == CROWDED) == (not lives), where
        if drawn.honest:
            truth = drawn.truth[p]
            assert life < 0 or (truth != ABSENT and life == 1000 * number + case.life[truth]), where
            tally["honest exact"] += life >= 0
        _moment(int(made.moment[first + p]) - shift, p, known.pairs, unanimous, where)
    for p, m in known.pairs:
        assert made.possible[batch.pair[first + p, shift + m]], (drawn, p, m)


def _moment(moment: int, p: int, pairs: set[tuple[int, int]], exact: bool, where: str) -> None:
    """A moment is the one that each assignment has."""
    seen = {m for q, m in pairs if q == p}
    if moment >= 0:
        assert exact and seen <= {moment}, where


def joined(cases: list[Case]) -> Batch:
    """Cases far apart in time as one problem."""
    columns: list[list[int]] = [[] for _ in range(8)]
    packets, moments, pairs = [], [], list[tuple[int, int]]()
    for number, case in enumerate(cases):
        packets.append(len(columns[0]))
        moments.append(len(columns[3]))
        late = number * APART
        columns[0] += [at + late for at in case.at]
        columns[1] += case.error
        columns[2] += case.may_lack
        columns[3] += [life + 1000 * number for life in case.life]
        for column, times in zip(columns[4:], case[4:8], strict=True):
            column += [time + late for time in times]
        for p, some in enumerate(case.options):
            pairs += [(packets[-1] + p, moments[-1] + m) for m in some]
    arrays = [np.array(column, np.int64) for column in columns]
    packet, moment = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
    at, error, lack, life, after, before, begin, end = arrays
    may_lack = lack.astype(np.bool_)
    problem = Problem(at, error, may_lack, life, after, before, begin, end, packet, moment)
    return Batch(problem, packets, moments, {pair: n for n, pair in enumerate(pairs)})

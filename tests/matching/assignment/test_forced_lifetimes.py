# SPDX-License-Identifier: MIT
"""Groups of packets too large to enumerate: what must be exact, what must not, and how fast."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest

from skbviewer.matching.assignment.forced_lifetimes import Assigned, Problem, assign
from skbviewer.matching.assignment.packet_group_loops import CROWDED, EXACT, SEVERAL, TOO_LARGE

MILLION = 1_000_000


@pytest.fixture(autouse=True)
def version() -> int:
    """No log is written here, so there are no versions of it."""
    return 0


def flood(
    packets: int, moments: int, error: int, lasting: int, apart: int = 1000, first: int = 0
) -> Problem:
    """Packets that all look alike: the n-th is of moment `first` + n, and each may have any."""
    time = np.arange(moments) * apart
    at = time[first : first + packets]
    near = np.searchsorted(time, at - error - lasting), np.searchsorted(time, at + error, "right")
    packet = np.repeat(np.arange(packets), near[1] - near[0])
    begin = np.repeat(near[0] - np.r_[0, np.cumsum(near[1] - near[0])[:-1]], near[1] - near[0])
    moment = np.arange(len(packet)) + begin
    lack, errors = np.zeros(packets, np.bool_), np.full(packets, error)
    lives = np.arange(moments)
    return Problem(at, errors, lack, lives, time, time, time, time + lasting, packet, moment)


def said(made: Assigned) -> set[int]:
    return set(made.why.tolist())


def test_order_alone_decides_where_there_are_as_many_packets_as_moments() -> None:
    made = assign(flood(2000, 2000, 30_000, 500))
    assert said(made) == {EXACT} and made.life.tolist() == list(range(2000))


def test_one_packet_that_is_missing_leaves_two_lifetimes() -> None:
    made = assign(flood(1999, 2000, 3_000_000, 500))
    assert said(made) == {SEVERAL} and made.possible.sum() == 2 * 1999


def test_one_packet_too_many_decides_nothing() -> None:
    asked = flood(2000, 2000, 3_000_000, 500)
    made = assign(asked._replace(at=asked.at, moment=np.minimum(asked.moment, 1998)))
    assert said(made) == {CROWDED}


def test_two_that_overlap_are_all_that_is_open() -> None:
    asked = flood(2000, 2000, 30_000, 500)
    asked.end[1000] += 600
    made = assign(asked)
    assert np.flatnonzero(made.life < 0).tolist() == [1000, 1001]
    assert set(made.why[1000:1002].tolist()) <= {SEVERAL}


def test_more_overlap_than_can_be_followed_is_left_open() -> None:
    made = assign(flood(200, 200, 300_000, 300_000))
    assert said(made) == {TOO_LARGE} and (made.life < 0).all()


def test_nothing_is_asked() -> None:
    made = assign(flood(0, 0, 10, 10))
    assert not len(made.life) and not len(made.possible)


@pytest.mark.parametrize(
    ("asked", "most_s"),
    [
        (flood(MILLION, MILLION, 100, 50), 0.9),
        (flood(100_000, 100_000, 10_000, 2_500), 6.0),
    ],
    ids=["one each", "many each"],
)
def test_it_is_fast(asked: Problem, most_s: float) -> None:
    """The limits are for a busy machine: thrice what it takes."""
    assign(flood(10, 10, 3000, 1200))
    began = process_time()
    assign(asked)
    took = process_time() - began
    print(took)
    assert took < most_s

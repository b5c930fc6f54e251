# SPDX-License-Identifier: MIT
"""Slices that overlap get tracks of their own; on each track they nest, in order of time."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.export.perfetto.slices import Slices
from skbviewer.export.perfetto.trace import events_in_order
from skbviewer.export.perfetto.track_nesting_loops import BEGIN, INSTANT
from skbviewer.records.types import Int64s


def slices(begin: Int64s, end: Int64s, track: Int64s) -> Slices:
    none = np.zeros(len(begin), np.int64)
    ends = np.zeros(len(begin) + 1, np.int64)
    texts = ("",)
    return Slices(
        begin, end, none, none, none, track, none, none, none, none[:0], ends, texts, texts, texts,
        (),
    )  # fmt: skip


def check(made: Slices) -> Int64s:
    """Every end closes the last begin of its track; returns the level of each slice."""
    kind, row, when, level = events_in_order(made)
    assert (np.diff(when) >= 0).all()
    stacks: dict[tuple[int, int], list[int]] = {}
    seen = []
    for what, one, at in zip(kind.tolist(), row.tolist(), when.tolist(), strict=True):
        stack = stacks.setdefault((int(made.track[one]), int(level[one])), [])
        if what == BEGIN:
            assert at == made.begin[one]
            stack.append(one)
        elif what == INSTANT:
            assert made.end[one] < 0 and at == made.begin[one]
            seen.append(one)
        else:
            assert at == made.end[one]
            assert stack.pop() == one
            seen.append(one)
    assert not any(stacks.values())
    assert sorted(seen) == list(range(len(made.begin)))
    return level


@pytest.mark.parametrize("seed", range(20))
def test_random_slices_nest_on_their_tracks(seed: int) -> None:
    random = np.random.default_rng(seed)
    begin = random.integers(0, 60, 200)
    dur = random.integers(-1, 30, 200)
    end = np.where(dur < 0, -1, begin + dur)
    check(slices(begin, end, random.integers(0, 3, 200)))


def test_one_level_is_enough_for_slices_that_nest() -> None:
    begin, end = np.array([0, 1, 1, 5, 10, 10]), np.array([10, 4, 3, 10, 20, 10])
    assert check(slices(begin, end, np.zeros(6, np.int64))).tolist() == [0] * 6


def test_overlapping_slices_are_divided() -> None:
    begin, end = np.array([0, 5, 6, 12]), np.array([10, 15, 9, 14])
    assert check(slices(begin, end, np.zeros(4, np.int64))).tolist() == [0, 1, 0, 0]


def test_more_slices_inside_each_other_than_a_track_holds() -> None:
    begin = np.arange(1500)
    assert set(check(slices(begin, 10_000 - begin, np.zeros(1500, np.int64))).tolist()) == {0, 1}

# SPDX-License-Identifier: MIT
"""Blocks that threads work on come in their order, and errors come through."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from itertools import islice

import pytest

from skbviewer.analysis.parallel_blocks import each_made


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is read."""


@pytest.fixture(autouse=True, params=[1, 4])
def cpus(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    number: int = request.param
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(number)))
    return number


@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_in_order(count: int) -> None:
    assert list(each_made(lambda one: one * one, range(count))) == [n * n for n in range(count)]


def test_several_threads_at_a_time(cpus: int) -> None:
    """Two blocks wait for each other, which one thread could not do."""
    if cpus == 1:
        return
    both = threading.Barrier(2, timeout=30)
    assert len(list(each_made(lambda _: both.wait(), range(2)))) == 2


def test_an_error_is_raised_in_its_place_and_ends_the_work(cpus: int) -> None:
    begun: list[int] = []

    def make(one: int) -> int:
        begun.append(one)
        if one == 3:
            raise ValueError(one)
        return one

    found: list[int] = []
    with pytest.raises(ValueError, match="3"):
        for one in each_made(make, range(1000)):
            found.append(one)
    assert found == [0, 1, 2] and len(begun) < 20


def test_blocks_are_not_taken_far_ahead(cpus: int) -> None:
    taken: list[int] = []

    def blocks() -> Iterator[int]:
        for one in range(1000):
            taken.append(one)
            yield one

    assert list(islice(each_made(abs, blocks()), 5)) == [0, 1, 2, 3, 4]
    assert len(taken) <= 5 + 2 * cpus

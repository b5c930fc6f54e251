# SPDX-License-Identifier: MIT
"""Large arrays above a bound are in files without names, whatever made them."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.parallel_blocks import each_made
from skbviewer.session import array_memory
from skbviewer.session.array_memory import ArrayMemory, bounded_arrays

SIZE = 1000  # values of an array, each of 8 bytes
BYTES = 8 * SIZE
MOST = 2 * BYTES


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ArrayMemory]:
    monkeypatch.setattr(array_memory, "LARGE", BYTES)
    with bounded_arrays(tmp_path, MOST) as made:
        assert made is not None
        before = made.use
        yield made
    assert (made.use.plain, made.use.filed) == (before.plain, before.filed)
    assert not list(tmp_path.iterdir())


def test_arrays_above_the_bound_are_in_files(memory: ArrayMemory) -> None:
    made = [np.full(SIZE, number) for number in range(4, -1, -1)]
    assert memory.use.plain == MOST and memory.use.filed == 3 * BYTES
    joined = np.concatenate(made)
    assert memory.use.filed == 8 * BYTES
    joined.sort()
    assert joined.tolist() == [number for number in range(5) for _ in range(SIZE)]
    zeros, few = np.zeros(SIZE), np.ones(SIZE - 1)
    assert memory.use.filed == 9 * BYTES and not zeros.any() and few.all()


def test_an_array_that_grows_keeps_its_values(memory: ArrayMemory) -> None:
    held = [np.zeros(SIZE) for _ in range(2)]
    for size in (10, SIZE):
        grown = np.arange(size)
        grown.resize(4 * SIZE, refcheck=False)
        assert grown[:size].tolist() == list(range(size)) and not grown[size:].any()
        assert memory.use.filed == 4 * BYTES
        grown.resize(5, refcheck=False)
        assert grown.tolist() == list(range(5)) and memory.use.filed == 0
        del grown
    assert len(held) == 2


def test_threads_for_blocks_have_the_same_bound(memory: ArrayMemory) -> None:
    made = list(each_made(lambda number: np.full(SIZE, number), range(6)))
    assert memory.use.plain == MOST and memory.use.filed == 4 * BYTES
    assert [int(array[-1]) for array in made] == list(range(6))


def test_an_array_outlives_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_memory, "LARGE", BYTES)
    with bounded_arrays(tmp_path, 0) as memory:
        kept = np.full(SIZE, 7)
    assert memory is not None and memory.use.filed == BYTES and kept.sum() == 7 * SIZE
    other = np.full(SIZE, 7)
    assert memory.use.filed == BYTES and other.all()
    del kept
    assert memory.use.filed == 0


def test_where_the_disk_is_full_memory_serves(
    memory: ArrayMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: int) -> None:
        raise OSError

    monkeypatch.setattr("os.posix_fallocate", full)
    made = [np.full(SIZE, number) for number in range(5)]
    assert memory.use.filed == 0 and memory.use.plain == 5 * BYTES
    assert [int(array[0]) for array in made] == list(range(5))


def test_ctrl_c_while_an_array_is_allocated_is_not_lost() -> None:
    calls: list[int] = []

    def interrupted(size: int) -> int:
        calls.append(size)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return size

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            assert array_memory._again(interrupted)(None, 5) == 5
            for _ in range(1000):
                time.sleep(0.01)
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == [5, 5]

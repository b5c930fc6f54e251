# SPDX-License-Identifier: MIT
"""A log that needs more memory than there is: its arrays are in files, its rows are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from skbviewer.dataset import dataset_paths, worker_memory
from skbviewer.dataset.add_task import add_pair
from skbviewer.records import Scratch
from tests.bench.generate import generate
from tests.dataset.limited_memory import pair_of
from tests.dataset.long_log import compare

PACKETS, CALLS = 50_000, 160_000  # more than 64 MiB of arrays at once
MOST = 32  # MiB of memory for them
LIMIT = 100 << 20


class Made(NamedTuple):
    """A small pair, and a large one."""

    small: tuple[Path, Path]
    large: tuple[Path, Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    out = tmp_path_factory.mktemp("logs")
    small, large = generate(out / "small", 500, 5_000), generate(out / "large", PACKETS, CALLS)
    return Made(pair_of(small), pair_of(large))


def test_no_stage_of_an_import_keeps_its_arrays_in_memory(made: Made, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.dataset.limited_memory", str(tmp_path), str(MOST)]
    few = {"MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*words, *map(str, made.small), *map(str, made.large)],
        env=os.environ | few,
        check=True,
        capture_output=True,
        text=True,
    )
    with_files, without_files = done.stdout.splitlines()
    assert with_files.startswith(f"host lab, {PACKETS} packets")
    assert without_files == "not enough memory"
    dataset_paths.make(tmp_path / "whole")
    for pair in made:
        assert add_pair(tmp_path / "whole", pair).added
    compare(tmp_path / "files", tmp_path / "whole")


def test_a_limit_that_is_too_small_is_one_line(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset_paths.make(tmp_path / "made")
    monkeypatch.setattr(worker_memory, "limit_here", lambda: LIMIT)
    outcome = add_pair(tmp_path / "made", made.large)
    need = worker_memory.mib(worker_memory.needed(made.large))
    assert outcome.error == (
        f"{made.large[0]}: needs about {need} of memory, a worker may use 100 MiB"
    )
    assert not list((tmp_path / "made" / "writing").iterdir())


def test_pages_of_files_do_not_count(tmp_path: Path) -> None:
    before = worker_memory.anonymous(os.getpid())
    filed = Scratch(tmp_path).full(LIMIT, "u1", 1)
    assert worker_memory.anonymous(os.getpid()) < before + LIMIT // 4
    held = filed.copy()
    assert worker_memory.anonymous(os.getpid()) > before + LIMIT // 2
    assert held[-1] == filed[-1] == 1

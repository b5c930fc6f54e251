# SPDX-License-Identifier: MIT
"""On a disk that is full, a pair is added whole or not at all, wherever the space ends."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from skbviewer.dataset import dataset_paths, session_manifests
from skbviewer.dataset.add_task import Outcome, add_pair
from skbviewer.dataset.dask_cluster import run
from skbviewer.dataset.file_groups import Pair
from skbviewer.dataset.session_writer import clean
from skbviewer.records import Silent
from tests.dataset.recordings import Both, pair, rows, workers_here
from tests.dataset.same_rows import check, check_files

STEP, BEGIN_KIB, PAGES_KIB = 1.25, 100, 8
Add = Callable[[Path, Pair], Outcome]


class SmallDisk(NamedTuple):
    """A file system in memory whose size can be changed."""

    place: Path

    def resize(self, kib: int) -> None:
        """Give it another size."""
        words = ["mount", "-o", f"remount,size={kib}k", str(self.place)]
        subprocess.run(words, check=True, capture_output=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Yield a small disk; mounting it takes root."""
    place = tmp_path / "disk"
    place.mkdir()
    options = f"size={BEGIN_KIB}k"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)
    yield SmallDisk(place)
    subprocess.run(["umount", place], check=True)


def _used_kib(place: Path) -> int:
    said = subprocess.run(["df", "--output=used", str(place)], check=True, capture_output=True)
    return int(said.stdout.split()[-1])


@contextmanager
def _by_workers() -> Iterator[Add]:
    """Yield what adds a pair by tasks of two workers."""
    with workers_here() as address:

        def add(made: Path, files: Pair) -> Outcome:
            (outcome,) = run(made, [files], 1, address, Silent())
            return outcome

        yield add


@pytest.mark.usefixtures("cut_small")
def test_wherever_the_space_ends(both: Both, disk: SmallDisk, tmp_path: Path) -> None:
    _fill(both, disk, tmp_path, add_pair)


@pytest.mark.usefixtures("cut_small")
def test_wherever_the_space_of_workers_ends(both: Both, disk: SmallDisk, tmp_path: Path) -> None:
    with _by_workers() as add:
        _fill(both, disk, tmp_path, add)


def _fill(both: Both, disk: SmallDisk, out: Path, add: Add) -> None:
    """Each attempt has a quarter more space than the one before, until one succeeds."""
    made, errors = disk.place / "dataset", []
    dataset_paths.make(made)
    sums = "SELECT session, count(*), sum(dur_ns) FROM calls GROUP BY 1 ORDER BY 1"
    for name in ("drops", "bulk"):
        before, space, used = rows(made, sums), BEGIN_KIB, _used_kib(disk.place)
        disk.resize(used + space)
        while (outcome := add(made, pair(name))).error:
            errors.append(outcome.error)
            clean(made)
            assert rows(made, sums) == before
            check_files(made)
            assert _used_kib(disk.place) <= used + PAGES_KIB
            space = round(space * STEP)
            disk.resize(used + space)
    assert len(errors) > 5 and not any("\n" in error for error in errors)
    # Where the space ended: while a share was written, and before.
    assert 0 < sum("/share" in error for error in errors) < len(errors), errors
    added = {each.session for each in session_manifests.read_all(made)}
    assert set(rows(made, sums)) == {row for row in both.rows(sums) if row[0] in added}
    assert len(added) == 2
    check(both, made, out)

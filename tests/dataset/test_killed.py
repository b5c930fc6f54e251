# SPDX-License-Identifier: MIT
"""Killed at any moment, a writer leaves its pair whole or not at all, and the next add is right."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

from skbviewer.dataset import dataset_paths, session_manifests
from skbviewer.dataset.add_task import add_pair
from skbviewer.dataset.dask_cluster import run
from skbviewer.dataset.session_writer import clean
from skbviewer.records import Silent
from tests.dataset.recordings import NAMES, Both, files_of, named, pair, rows

# Ends itself at the n-th rename: those of the session, the tables, and the manifest.
DYING = """
import os, sys
from pathlib import Path
from skbviewer.dataset.add_task import add_pair
rename, left = os.rename, [int(sys.argv[1])]
def dying(*names):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), 9)
    rename(*names)
os.rename = dying
add_pair(Path(sys.argv[2]), tuple(map(Path, sys.argv[3:])))
"""


def test_killed_at_any_rename(both: Both, tmp_path: Path) -> None:
    made = tmp_path / "dataset"
    dataset_paths.make(made)
    codes = [_die(made, at) for at in (1, 3, 9, 15)]
    assert codes == [-signal.SIGKILL] * 4
    assert rows(made, "SELECT count(*) FROM calls") == [(0,)]
    assert len(files_of(made)) > 4
    assert clean(made)
    assert add_pair(made, pair("drops")).added
    assert {path for path in files_of(made) if path.suffix == ".parquet"} == named(made)
    assert not list((made / "writing").iterdir())
    (session,) = (each.session for each in session_manifests.read_all(made))
    same = f"SELECT * EXCLUDE (session) FROM calls WHERE session = '{session}' ORDER BY id"
    assert rows(made, same) == both.rows(same)


def _die(made: Path, at: int) -> int:
    words = [sys.executable, "-c", DYING, str(at), str(made), *map(str, pair("drops"))]
    return subprocess.run(words, check=False, timeout=120).returncode


def test_the_killed_client_of_a_local_cluster(both: Both, tmp_path: Path) -> None:
    made = tmp_path / "dataset"
    files = [str(path) for name in NAMES for path in pair(name)]
    words = [sys.executable, "-m", "skbviewer", "dataset", "add", str(made), *files, "--jobs", "2"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        assert client.stdout.readline()  # one pair is there
        client.kill()
    assert session_manifests.read_all(made)
    found = subprocess.run(words, check=False, capture_output=True, text=True, timeout=200)
    assert found.returncode == 0, found.stderr
    assert len(found.stdout.splitlines()) == len(NAMES)
    _same(both, made)


def test_the_task_of_a_killed_worker_runs_again(both: Both, tmp_path: Path) -> None:
    made = tmp_path / "dataset"
    dataset_paths.make(made)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        workers = list(client.run(_process).values())
        outcomes = run(
            made,
            [pair(name) for name in NAMES],
            1,
            cluster.scheduler_address,
            _Killing(made, workers),
        )
        found = list(outcomes)
    assert not [outcome.error for outcome in found if outcome.error]
    assert len(found) == len(NAMES)
    _same(both, made)


def _process() -> int:
    import os

    return os.getpid()


class _Killing(Silent):
    """Kills a worker as soon as one has begun to write."""

    def __init__(self, made: Path, workers: list[int]) -> None:
        self._made, self._workers = made, workers

    def report(self, what: str, done: int, total: int) -> None:
        import os

        busy = list((self._made / "writing").glob("*.lock"))
        if self._workers and busy:
            os.kill(self._workers.pop(), signal.SIGKILL)
            self._workers.clear()


def _same(both: Both, made: Path) -> None:
    """Nothing is lost and nothing is there twice."""
    for _ in range(100):  # workers whose client is dead may still be at work
        if not list((made / "writing").glob("*.lock")):
            break
        time.sleep(0.2)
        clean(made)
    assert {path for path in files_of(made) if path.suffix == ".parquet"} == named(made)
    for table, column in (("packets", "len"), ("calls", "dur_ns"), ("waits", "end_ns - begin_ns")):
        sums = f"SELECT session, count(*), sum({column}) FROM {table} GROUP BY 1 ORDER BY 1"
        assert rows(made, sums) == both.rows(sums)


@pytest.mark.parametrize("scheduler", ["tcp://127.0.0.1:1", "nonsense"])
def test_no_such_scheduler(tmp_path: Path, scheduler: str) -> None:
    words = ["dataset", "add", str(tmp_path / "d"), str(pair("drops")[0]), "--scheduler", scheduler]
    found = subprocess.run(
        [sys.executable, "-m", "skbviewer", *words],
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert found.returncode == 2
    assert found.stderr.splitlines()[-1].endswith("no Dask scheduler answers")

# SPDX-License-Identifier: MIT
"""While a log is written in shares, workers and clients are killed, and two processes write it.

Afterwards nothing is lost and nothing is there twice.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import dask
import pytest
from distributed import LocalCluster

from skbviewer.dataset import dataset_paths, session_manifests
from skbviewer.dataset.dask_cluster import run
from skbviewer.dataset.session_writer import clean
from skbviewer.records import Silent
from tests.dataset.recordings import Both, pair, rows
from tests.dataset.same_rows import check

PRELOAD = "tests.dataset.unlucky_worker"
NAME, PATIENCE_S = "bulk", 120


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file that a worker makes when it ends or waits; see unlucky_worker.py."""
    monkeypatch.setenv("UNLUCKY_MARK", str(tmp_path / "mark"))
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", f"['{PRELOAD}']")
    return tmp_path / "mark"


@pytest.mark.parametrize("unlucky", ["session", "other"])
def test_a_worker_is_killed_while_it_writes_a_share(
    both: Both, tmp_path: Path, mark: Path, unlucky: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNLUCKY", unlucky)
    made = tmp_path / "dataset"
    dataset_paths.make(made)
    with (
        dask.config.set({"distributed.worker.preload": [PRELOAD]}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
    ):
        found = list(run(made, [pair(NAME)], 1, cluster.scheduler_address, Silent()))
    assert mark.exists()
    assert [(outcome.added, outcome.error) for outcome in found] == [(True, "")]
    clean(made)
    check(both, made, tmp_path)


def _command(made: Path) -> list[str]:
    files = map(str, pair(NAME))
    # A file that is missing counts as a second pair: then there are two workers.
    words = ["dataset", "add", str(made), *files, str(made / "missing.kbl"), "--jobs", "2"]
    return [sys.executable, "-m", "skbviewer", *words]


def test_the_client_is_killed_while_shares_are_written(
    both: Both, tmp_path: Path, mark: Path
) -> None:
    made = tmp_path / "dataset"
    waiting, going = (os.environ | {"UNLUCKY": which} for which in ("wait", "never"))
    with subprocess.Popen(
        _command(made), env=waiting, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as client:
        _until(mark.exists)
        client.kill()
    assert not session_manifests.read_all(made)
    _until(lambda: not _left(made))
    found = subprocess.run(_command(made), check=False, env=going, capture_output=True, text=True)
    assert f"{NAME}.kbl" in found.stdout, found.stderr
    check(both, made, tmp_path)


def _left(made: Path) -> bool:
    """Remove what dead writers left; return whether a writer is still there."""
    clean(made)
    return any((made / "writing").iterdir())


def _until(is_so: object) -> None:
    assert callable(is_so)
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_two_processes_write_the_same_log(both: Both, tmp_path: Path, mark: Path) -> None:
    """At any moment a reader sees all rows of the log or none."""
    made = tmp_path / "dataset"
    dataset_paths.make(made)
    environment = os.environ | {"UNLUCKY": "never"}
    writers = [
        subprocess.Popen(_command(made), env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        seen.update(rows(made, "SELECT count(*), sum(dur_ns) FROM calls"))
    said = [writer.communicate()[0] for writer in writers]
    (session,) = (each.session for each in session_manifests.read_all(made))
    whole = f"SELECT count(*), sum(dur_ns) FROM calls WHERE session = '{session}'"
    assert seen <= {(0, None), *both.rows(whole)}
    assert seen >= set(both.rows(whole)) or len(seen) == 1, said
    check(both, made, tmp_path)

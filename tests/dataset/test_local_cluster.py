# SPDX-License-Identifier: MIT
"""The local cluster of `dataset add`: its settings, workers that are lost, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask
import numpy as np
import pytest

from skbviewer.dataset import dask_cluster, session_manifests
from skbviewer.dataset.add_task import Outcome
from skbviewer.dataset.file_groups import Pair
from skbviewer.records import Silent
from tests.dataset.recordings import NAMES, Both, files_of, named, pair, workers_here
from tests.dataset.same_rows import check

CANCELLED = 2  # the exit code
DEADLY = 1  # the number of the pair that no worker survives
LIMIT = 600_000_000  # bytes of memory for a worker


def test_dask_does_not_watch_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "_add", _settings)
    (found,) = dask_cluster.run(tmp_path, [pair(NAMES[0])], 1, "", Silent())
    assert found.text == "False 1s"


def _settings(_: Path, _inner: bool, files: Pair) -> Outcome:
    names = ("worker.profile.enabled", "admin.tick.interval")
    text = " ".join(str(dask.config.get(f"distributed.{name}")) for name in names)
    return Outcome(files, "", False, text)


@pytest.mark.timeout(100)
def test_a_worker_near_its_memory_limit_writes_shares(
    both: Both, cut_small: Path, tmp_path: Path
) -> None:
    """By default, Dask would pause both workers: their process is larger than their limit."""
    with workers_here(memory_limit=50_000_000) as address:
        (found,) = dask_cluster.run(cut_small, [pair("drops")], 1, address, Silent())
    assert found.added
    check(both, cut_small, tmp_path)


def test_a_pair_that_needs_more_memory_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "memory_of_machine", lambda: 2 * LIMIT)
    monkeypatch.setattr(dask_cluster, "_add", _greedy)
    pairs = [(tmp_path / f"{number}.kbl",) for number in range(4)]
    errors = {each.files: each.error for each in dask_cluster.run(tmp_path, pairs, 2, "", Silent())}
    assert {files for files, error in errors.items() if error} == {pairs[DEADLY]}
    assert "perhaps it needs more memory than one has" in errors[pairs[DEADLY]]


def _greedy(_: Path, _inner: bool, files: Pair) -> Outcome:
    if files[0].stem == str(DEADLY):
        held = np.ones(LIMIT, dtype=np.uint8)
        time.sleep(60)
        assert held[-1]
    return Outcome(files, "", False, "")


def test_only_the_pair_that_ends_its_workers_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "_add", _deadly)
    pairs = [(tmp_path / f"{number}.kbl",) for number in range(8)]
    failed = {
        each.files for each in dask_cluster.run(tmp_path, pairs, 2, "", Silent()) if each.error
    }
    assert failed == {pairs[DEADLY]}


def _deadly(_: Path, _inner: bool, files: Pair) -> Outcome:
    if files[0].stem == str(DEADLY):
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(files, "", False, "")


def test_ctrl_c_leaves_whole_pairs(tmp_path: Path) -> None:
    made = tmp_path / "dataset"
    files = [str(path) for name in NAMES for path in pair(name)]
    words = [sys.executable, "-m", "skbviewer", "dataset", "add", str(made), *files, "--jobs", "1"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout is not None and client.stderr is not None
        first = client.stdout.readline()
        client.send_signal(signal.SIGINT)
        said = client.stderr.read()
        assert client.wait(timeout=60) == CANCELLED
    assert said.splitlines()[-1].endswith("cancelled")
    assert "Traceback" not in said
    assert first.split()[0] in {each.session for each in session_manifests.read_all(made)}
    assert len(session_manifests.read_all(made)) < len(NAMES)
    assert {path for path in files_of(made) if path.suffix == ".parquet"} >= named(made)
    assert subprocess.run(words, check=False, capture_output=True, timeout=200).returncode == 0
    assert len(session_manifests.read_all(made)) == len(NAMES)
    assert {path for path in files_of(made) if path.suffix == ".parquet"} == named(made)

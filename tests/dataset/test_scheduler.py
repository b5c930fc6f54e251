# SPDX-License-Identifier: MIT
"""--scheduler: a program that is no Dask scheduler, and a scheduler that ends."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skbviewer.dataset import dask_cluster
from skbviewer.records import BadInput, Silent
from tests.dataset.recordings import pair


def test_another_program_is_no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "CONNECT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(BadInput, match="no Dask scheduler answers"):
            list(dask_cluster.run(tmp_path, [pair("drops")], 1, address, Silent()))


@pytest.mark.timeout(120)
def test_a_scheduler_that_ends_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    words = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", *words], stderr=subprocess.DEVNULL
    )
    ending = _Ending(scheduler)
    try:
        while not file.exists():
            time.sleep(0.1)
            assert scheduler.poll() is None
        address = json.loads(file.read_text())["address"]
        with pytest.raises(BadInput, match="the connection to the Dask scheduler was lost"):
            list(dask_cluster.run(tmp_path, [pair("drops")], 1, address, ending))
    finally:
        scheduler.kill()
        scheduler.wait()
    assert ending.first == "waiting for a Dask worker"


class _Ending(Silent):
    """Ends a scheduler that has no workers at the first report, whose text is `first`."""

    def __init__(self, scheduler: subprocess.Popen[bytes]) -> None:
        self.first, self._scheduler = "", scheduler

    def report(self, what: str, done: int, total: int) -> None:
        if not self.first:
            self.first = what
            self._scheduler.kill()

# SPDX-License-Identifier: MIT
"""A process that crashes or hangs costs its item only."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from scanner import worker_processes
from scanner.worker_processes import Lost, run


def _make() -> Callable[[int], int]:
    def work(number: int) -> int:
        if number == 7:
            os._exit(3)
        if number == 11:
            while True:
                pass
        if number == 13:
            time.sleep(2.5)  # longer than an item may work, but it does not work
        return number * number

    return work


def test_the_rest_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_processes, "SECONDS", 1.0)
    found = dict(run(range(100), 2, _make))
    assert found[7] == Lost("the parser crashed")
    assert found[11] == Lost("stopped reading after 1 s of CPU time")
    others = {n: square for n, square in found.items() if n not in (7, 11)}
    assert others == {n: n * n for n in range(100) if n not in (7, 11)}


KILLED = """
import os, time
from scanner.worker_processes import run

def work(number):
    os.write(1, b"%d\\n" % os.getpid())  # at once: print may be cut in two by another process
    time.sleep(0.1)
    return number

for _ in run(range(1000), 3, lambda: work):
    pass
"""


def test_a_parent_that_is_killed_leaves_no_process() -> None:
    command = [sys.executable, "-c", KILLED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pids: set[str] = set()
        while len(pids) < 3:
            pids.add(process.stdout.readline().strip())
        process.kill()
        # The pipe ends when the last that could write to it is gone.
        process.stdout.read()
    assert "" not in pids


def test_nothing_to_do() -> None:
    assert list(run([], 2, _make)) == []

# SPDX-License-Identifier: MIT
"""The most memory that each worker of `dataset add` has, read from /proc while it runs."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

from skbviewer.dataset.worker_memory import anonymous

PERIOD_S = 0.25
SPAWNED = b"spawn_main"  # in the command line of a process that Dask begins as a worker
PARENT, PEAK = re.compile(r"^PPid:\s*(\d+)", re.M), re.compile(r"^VmHWM:\s*(\d+)", re.M)


class WorkerMemory(threading.Thread):
    """Reads, until the end of `with`, the peak of each worker below this process, in MiB.

    `anonymous` is the peak of what is in no file, as often as it is read.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peaks: dict[int, float] = {}
        self.anonymous: dict[int, float] = {}
        self._end = threading.Event()

    def __enter__(self) -> WorkerMemory:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self.join()

    def run(self) -> None:
        """Read /proc until the end.  The kernel keeps the peak, but not that of `anonymous`."""
        while not self._end.wait(PERIOD_S):
            found = _statuses()
            for process, status in found.items():
                peak = PEAK.search(status)
                if peak and _is_below(process, found) and _is_worker(process):
                    self.peaks[process] = int(peak[1]) / 1024
                    now = anonymous(process) / (1 << 20)
                    self.anonymous[process] = max(now, self.anonymous.get(process, 0.0))


def _statuses() -> dict[int, str]:
    found = {}
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            found[int(path.parent.name)] = path.read_text()
        except OSError:  # it has ended
            continue
    return found


def _is_below(process: int, found: dict[int, str]) -> bool:
    """Return whether `process` is a child of a child ... of this process."""
    while process in found and (parent := PARENT.search(found[process])):
        process = int(parent[1])
        if process == os.getpid():
            return True
    return False


def _is_worker(process: int) -> bool:
    try:
        return SPAWNED in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False

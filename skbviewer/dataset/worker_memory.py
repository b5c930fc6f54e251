# SPDX-License-Identifier: MIT
"""The memory of workers: which memory counts, how much arrays may take, how much a log needs.

Pages of mapped files do not count, because the kernel can write them to the disk and drop them.
Large arrays of a long log are in mapped files, so that a log may be larger than a worker's memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from distributed import Nanny, Status, get_worker
from tornado.ioloop import PeriodicCallback

from ..records import BadInput
from ..session.array_memory import bounded_arrays
from ..session.import_memory import ARRAYS as ARRAYS
from ..session.import_memory import input_size

LOOK_MS = 500  # between two looks at a worker's memory
END_AT = 0.95  # of its limit a worker is ended
WORKER = 300 << 20  # bytes that a worker takes without any log
SHARE = 4  # large arrays may take what the limit leaves beside WORKER, divided by this
RECORD_BYTES = 6  # a byte of input needs 1 / RECORD_BYTES of memory that is neither of these
SMALL = 20  # files of less than WORKER / SMALL bytes are small
SESSION_BYTES = 4  # bytes of a session from which a byte of arrays is made to write a share
END_AT_RSS = not Path("/proc/self/status").exists()  # Dask counts all pages, but everywhere
ANONYMOUS = re.compile(r"^Rss(?:Anon|Shmem):\s*(\d+) kB", re.M)


class BoundedNanny(Nanny):  # type: ignore[misc]  # its package has no types
    """Ends its worker if the memory that the kernel cannot take back exceeds the limit."""

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self.periodic_callbacks["anonymous_memory"] = PeriodicCallback(self._look, LOOK_MS)

    def _look(self) -> None:
        process = self.process.process if self.process else None
        limit = self.memory_manager.memory_limit
        if self.status != Status.running or not limit or process is None or not process.pid:
            return
        if anonymous(process.pid) > END_AT * limit:
            process.kill()


def anonymous(process: int) -> int:
    """Return how many bytes of a process's memory belong to no file; 0 if the process has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text("ascii", "replace")
    except OSError:
        return 0
    return sum(map(int, ANONYMOUS.findall(status))) << 10


def limit_here() -> int:
    """Return the memory limit of the worker that runs this task, in bytes; 0 if there is none."""
    try:
        return int(get_worker().memory_manager.memory_limit or 0)
    except ValueError:  # no worker runs this
        return 0


def of_arrays(limit: int) -> int:
    """Return how many bytes large arrays may take in memory (not in files) under `limit`."""
    return min(ARRAYS, max(limit - WORKER, 0) // SHARE) if limit else ARRAYS


def of_share(session: Path) -> AbstractContextManager[object]:
    """Return a context that limits the arrays of a task that writes a share of `session`."""
    most = of_arrays(limit_here())
    size = session.stat().st_size if session.is_file() else 0
    return bounded_arrays(session.parent, most) if size > SESSION_BYTES * most else nullcontext()


def needed(files: Sequence[Path]) -> int:
    """Estimate how many bytes of memory a worker needs to import `files`."""
    rest = sum(map(input_size, files)) // RECORD_BYTES
    return WORKER + rest + rest // (SHARE - 1)


def check(files: Sequence[Path], limit: int) -> None:
    """Raise BadInput if a worker's `limit` is too small to import `files`; 0 is no limit.

    Small files are not checked: they need less than WORKER.
    """
    if limit and needed(files) > limit and sum(map(input_size, files)) > WORKER // SMALL:
        why = f"needs about {mib(needed(files))} of memory, a worker may use {mib(limit)}"
        raise BadInput(files[0], None, why)


def mib(size: int) -> str:
    """Return a number of bytes as a text in MiB, for users."""
    return f"{size >> 20:,} MiB"

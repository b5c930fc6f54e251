# SPDX-License-Identifier: MIT
"""A control group in which the kernel limits the memory of this process and its children."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
OF_VERSION_1 = CGROUPS / "memory"


@contextmanager
def memory_group(limit: int) -> Iterator[None]:
    """Until the end, all memory of this process and its new children is at most `limit` bytes.

    This counts pages of files, too, which the kernel writes back and drops when there is no room.
    Raises SystemExit if this process may not make groups.
    """
    is_first = OF_VERSION_1.is_dir()
    group = (OF_VERSION_1 if is_first else CGROUPS) / f"skbviewer-{os.getpid()}"
    before = _of_this_process(is_first)
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if is_first else "memory.max")).write_text(str(limit))
        (group / "cgroup.procs").write_text(str(os.getpid()))
    except OSError as error:
        raise SystemExit(f"{error.filename}: {error.strerror}") from error
    try:
        yield
    finally:
        for process in (group / "cgroup.procs").read_text().split():  # some outlive the workers
            with suppress(ProcessLookupError):
                (before / "cgroup.procs").write_text(process)
        group.rmdir()


def _of_this_process(is_first: bool) -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == ("memory" if is_first else ""):
            return (OF_VERSION_1 if is_first else CGROUPS) / path.lstrip("/")
    raise SystemExit("this process is in no control group for memory")

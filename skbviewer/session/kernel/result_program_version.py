# SPDX-License-Identifier: MIT
"""Which program made a stored result; a result of another program may differ."""

from __future__ import annotations

import os
from functools import cache
from hashlib import blake2b
from pathlib import Path

from ...records.resource_files import PACKAGE, resource

CODE = ("analysis", "matching", "records", "session", "store")  # what results depend on
RESOURCES = ("layers.json", "syscalls.json")
START = 19  # field of /proc/PID/stat after the name: clock ticks from boot to start, proc(5)


@cache
def program() -> str:
    """Return a hash of the code that computes results, and of the tables that this code reads."""
    digest = blake2b(digest_size=16)
    for file in _files():
        digest.update(file.read_bytes())
    return digest.hexdigest()


def is_unchanged() -> bool:
    """Return whether the code on disk is the code that this process has loaded.

    If the program is updated during a long import, the results must not get the hash of code that
    did not make them.
    """
    started = _started()
    return all(file.stat().st_ctime < started for file in _files())


def _files() -> list[Path]:
    files = [file for name in CODE for file in sorted((PACKAGE / name).rglob("*.py"))]
    return [*files, *map(resource, RESOURCES)]


def _started() -> float:
    """Return when this process was started, in s since 1970."""
    ticks = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[START]
    lines = Path("/proc/stat").read_text().splitlines()
    (boot,) = (int(line.split()[1]) for line in lines if line.startswith("btime "))
    return boot + int(ticks) / os.sysconf("SC_CLK_TCK")

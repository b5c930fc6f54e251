# SPDX-License-Identifier: MIT
"""System calls of programs: `skbviewer stats syscalls`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....records.kbl_layout import KblEvent
from ...scope import Scope
from ..duration_percentiles import spreads
from .begin_end_events import pairs_of

MAX_ERRNO = 4095  # linux/err.h: other negative results are addresses or numbers
ALL, ON_SOCKETS = "syscalls", "syscall"  # groups of events
SOCKETS_ONLY = "only calls on sockets were recorded: to record all, use 'kblrecord -e syscalls'"


class SyscallRow(NamedTuple):
    """The calls of one system call by one program.

    Times (ns) are from the start of a call to its end, including waits.
    """

    process: str
    host: int  # source id of the KBL
    syscall: str
    number: int
    errors: int  # calls that returned an error
    total_ns: int
    mean_ns: int
    p50_ns: int
    p95_ns: int
    p99_ns: int
    max_ns: int


def syscall_rows(scope: Scope) -> list[SyscallRow]:
    """Return the system calls that began in the range of time, the longest total first.

    Raises Cancelled.
    """
    pairs = pairs_of(scope, int(KblEvent.SYSCALL_ENTRY), int(KblEvent.SYSCALL_EXIT), "pid")
    keys = np.stack([pairs.source, pairs.pid, pairs.data], axis=1)
    used, group = np.unique(keys, axis=0, return_inverse=True)
    named = [_names(scope, *key) for key in used.tolist()]
    programs = sorted(set(named))
    places = {program: at for at, program in enumerate(programs)}
    place = np.array([places[one] for one in named], np.int64)
    group = place[group.reshape(-1)] if len(place) else np.zeros(0, np.int64)
    found = spreads(group, pairs.ns, len(programs))
    failed = (pairs.result < 0) & (pairs.result >= -MAX_ERRNO)
    errors = np.bincount(group[failed], minlength=len(programs))
    rows = [
        SyscallRow(name, host, call, spread.number, int(errors[at]), *spread[1:])
        for at, ((host, name, call), spread) in enumerate(zip(programs, found, strict=True))
    ]
    return sorted(rows, key=lambda row: (-row.total_ns, row.process, row.syscall))


def _names(scope: Scope, source: int, pid: int, number: int) -> tuple[int, str, str]:
    names = scope.kernels[source].names
    return source, names.tasks.get(pid, f"thread {pid}"), names.syscall(number)

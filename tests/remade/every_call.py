# SPDX-License-Identifier: MIT
"""TURUNG: statistics of all system calls, beside what the guest's kernel counted.

The recording is of tests/lab/events/everycall.c.  Histograms of the kernel's tracepoints counted
its calls, too.
"""

from __future__ import annotations

import functools
import tempfile
from collections import Counter
from pathlib import Path

from skbviewer.analysis.stats import Chosen, statistic_of
from skbviewer.analysis.stats.machine.syscall_table import SyscallRow
from skbviewer.analysis.words.kernel_log_names import Names
from skbviewer.records.kbl_layout import KBL_SYSCALL_32BIT
from skbviewer.session import Session, import_files
from tests.lab.events.histograms import histogram

from .kept import guest_files
from .markdown import microseconds, table

PROGRAM = "everycall"
RECORDING, COUNTED, MADE = (f"every-call.{what}" for what in ("kbl", "enter", "made"))


def every_call() -> str:
    """Return `stats syscalls` of the program, and how often the kernel counted each call."""
    counted = call_counts()
    head = ("system call", "recorded", "the kernel's own count", "errors", "total (us)",
            "mean (us)", "longest (us)")  # fmt: skip
    rows = [
        (row.syscall, row.number, counted[row.syscall], row.errors,
         *map(microseconds, (row.total_ns, row.mean_ns, row.max_ns)))
        for row in every_call_rows()
    ]  # fmt: skip
    return table(head, rows, left=1)


def every_call_rows() -> list[SyscallRow]:
    """Return the program's rows of `stats syscalls`."""
    made = statistic_of("syscalls", _session().stats.scope(Chosen(None)))
    rows = map(SyscallRow._make, made.rows)
    return [row for row in rows if row.process == PROGRAM]


def call_counts() -> Counter[str]:
    """Return how often the kernel counted each call of the program's threads, by name.

    The kernel does not say which numbers are of 32-bit calls, so each counts under both names.
    """
    names, made = _names(), Counter[str]()
    threads = {thread for thread, name in names.tasks.items() if name == PROGRAM}
    for (thread, number), hits in histogram(guest_files() / COUNTED).items():
        if thread in threads:
            made[names.syscall(number)] += hits
            made[names.syscall(number | KBL_SYSCALL_32BIT)] += hits
    return made


def program_counts() -> dict[str, tuple[int, int]]:
    """Return what the program wrote down: calls and errors by name."""
    lines = (guest_files() / MADE).read_text("utf-8").splitlines()
    rows = (map(int, line.split()) for line in lines)
    return {_names().syscall(number): (calls, errors) for number, calls, errors in rows}


def _names() -> Names:
    (kernel,) = _session().stats.scope(Chosen(None)).kernels.values()
    return kernel.names


@functools.cache
def _session() -> Session:
    out = Path(tempfile.mkdtemp(prefix="remade-every-call-")) / "every-call.skbv"
    import_files([guest_files() / RECORDING], out)
    return Session.open(out)

# SPDX-License-Identifier: MIT
"""TURUNG: statistics of interrupts and of system calls, beside what the guest's kernel counted."""

from __future__ import annotations

import re
from pathlib import Path

from skbviewer.analysis.stats import Chosen, statistic_of
from skbviewer.analysis.stats.machine.interrupt_table import InterruptRow
from skbviewer.analysis.stats.machine.syscall_table import SyscallRow

from .kept import guest_files
from .late_clock import session
from .markdown import microseconds, table


def interrupts() -> str:
    """Return `stats interrupts`, and how often the kernel itself counted each."""
    counted, owner = kernel_counts(), owners()
    rows = [
        (row.kind, row.name, owner.get(row.name, ""), row.number,
         counted.get((row.kind, row.name), ""), *_times(row))
        for row in interrupt_rows()
    ]  # fmt: skip
    head = ("kind", "name", "device", "recorded", "the kernel's own count", "total (us)",
            "mean (us)", "longest (us)")  # fmt: skip
    return table(head, rows, left=3)


def interrupt_rows() -> list[InterruptRow]:
    """Return the rows of `stats interrupts`."""
    rows = statistic_of("interrupts", session().stats.scope(Chosen(None))).rows
    return [InterruptRow._make(row) for row in rows]


def system_calls() -> str:
    """Return `stats syscalls`."""
    return table(
        ("program", "system call", "calls", "errors", "total (us)", "mean (us)", "longest (us)"),
        [
            (row.process, row.syscall, row.number, row.errors, *_times(row))
            for row in system_call_rows()
        ],
        left=2,
    )


def system_call_rows() -> list[SyscallRow]:
    """Return the rows of `stats syscalls`."""
    rows = statistic_of("syscalls", session().stats.scope(Chosen(None))).rows
    return [SyscallRow._make(row) for row in rows]


def kernel_counts() -> dict[tuple[str, str], int]:
    """Return how many interrupts and softirqs the kernel itself counted, by kind and name.

    It was asked after the recording had begun, and before it ended.
    """
    found: dict[tuple[str, str], int] = {}
    for kind, name in (("interrupt", "interrupts"), ("softirq", "softirqs")):
        before, after = (_counts(guest_files() / f"{name}.{when}") for when in ("before", "after"))
        found |= {(kind, word): after[word] - before.get(word, 0) for word in after}
    return found


def owners() -> dict[str, str]:
    """Return the names of devices by the number of their interrupt."""
    text = (guest_files() / "interrupts.after").read_text("utf-8")
    return dict(re.findall(r"^\s*(\d+):.*\s(\S+)$", text, re.MULTILINE))


def _counts(path: Path) -> dict[str, int]:
    """Return the counts of the first CPU in a file such as /proc/interrupts."""
    rows = re.findall(r"^\s*(\w+):\s+(\d+)", path.read_text("utf-8"), re.MULTILINE)
    return {name: int(count) for name, count in rows}


def _times(row: InterruptRow | SyscallRow) -> tuple[str, str, str]:
    return microseconds(row.total_ns), microseconds(row.mean_ns), microseconds(row.max_ns)

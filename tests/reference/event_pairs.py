# SPDX-License-Identifier: MIT
"""Compute what `stats interrupts` and `stats syscalls` should print from pairs of events.

In: a log, with its events in order.  Out: rows of the tables, without the host.  A begin counts if
the next such event of its CPU or thread is its end, and no record was lost between them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from .calls import MISSED
from .layout import EVENT
from .rows import Cells
from .slots import Event, Log
from .statistics import spread

SYSCALLS = Path(__file__).parents[2] / "resources/syscalls.json"
SOFTIRQS = (
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
)  # fmt: skip
INTERRUPTS = {
    "interrupt": (EVENT.IRQ_ENTRY, EVENT.IRQ_EXIT),
    "softirq": (EVENT.SOFTIRQ_ENTRY, EVENT.SOFTIRQ_EXIT),
}
ERRORS = (1 << 64) - 4095  # from here on the result is an error
OLD = 1 << 32  # in the number of a 32-bit program's call
Pair = tuple[Event, Event]


def interrupts(log: Log, events: Iterable[Event]) -> list[Cells]:
    """Return `stats interrupts`."""
    events, of = list(events), dict[tuple[str, str, int], list[int]]()
    for kind, (begins, ends) in INTERRUPTS.items():
        for first, last in _pairs(log, events, begins, ends, "cpu"):
            is_known = kind == "softirq" and first.data < len(SOFTIRQS)
            name = SOFTIRQS[first.data] if is_known else str(first.data)
            of.setdefault((kind, name, first.cpu), []).append(last.ts - first.ts)
    return [
        {"kind": kind, "name": name, "cpu": cpu, "count": len(values)} | spread(values)
        for (kind, name, cpu), values in of.items()
    ]


def syscalls(log: Log, events: Iterable[Event]) -> list[Cells]:
    """Return `stats syscalls`."""
    tables = json.loads(SYSCALLS.read_text(encoding="utf-8"))
    names: dict[str, str] = dict(tables.get(log.arch, {}))
    if log.arch == "x86_64":
        names |= {str(OLD + int(n)): f"{name} (32-bit)" for n, name in tables["i386"].items()}
    of: dict[tuple[str, str], list[Pair]] = {}
    for pair in _pairs(log, list(events), EVENT.SYSCALL_ENTRY, EVENT.SYSCALL_EXIT, "pid"):
        first, number = pair[0], str(pair[0].data)
        program = log.threads.get(first.pid, f"thread {first.pid}")
        of.setdefault((program, names.get(number, f"syscall {number}")), []).append(pair)
    made = []
    for (program, name), pairs in of.items():
        cells: Cells = {"process": program, "syscall": name, "count": len(pairs)}
        cells["errors"] = sum(last.data >= ERRORS for _, last in pairs)
        made.append(cells | spread(last.ts - first.ts for first, last in pairs))
    return made


def _pairs(log: Log, events: list[Event], begins: int, ends: int, by: str) -> Iterator[Pair]:
    """Yield each begin whose next event of the same CPU or thread is an end."""
    losses = [loss for loss in log.losses if loss.reason != MISSED]
    open_: dict[int, Event] = {}
    for event in sorted(events, key=lambda one: one.ts):
        of = getattr(event, by)
        if event.event == begins:
            open_[of] = event
        elif event.event == ends and of in open_:
            first = open_.pop(of)
            if not any(one.begin <= event.ts and one.end >= first.ts for one in losses):
                yield first, event

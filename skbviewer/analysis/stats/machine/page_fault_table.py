# SPDX-License-Identifier: MIT
"""Page faults by program and kind: `skbviewer stats faults`."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from ....records.kbl_layout import KblEvent
from ...scope import Scope
from ...words.event_text import PAGE_BITS, fault_text
from .thread_table import IDLE


class FaultRow(NamedTuple):
    """The page faults of one kind in one program.

    `calls` is the number of page faults inside calls for a packet.
    """

    process: str
    host: int  # source id of the KBL
    kind: str  # "write of a missing page"
    number: int
    pages: int  # different pages
    calls: int


def fault_rows(scope: Scope) -> list[FaultRow]:
    """Return the page faults in the range of time, by program and kind, the most frequent first.

    Raises Cancelled.
    """
    scope.progress.report("Counting", 0, 0)
    rows = np.flatnonzero(scope.columns.array("event", "event") == int(KblEvent.PAGE_FAULT))
    source, ts = scope.of_event("source", rows), scope.of_event("ts", rows)
    rows = rows[scope.in_range(source, ts)]
    columns = (scope.of_event(name, rows).tolist() for name in ("source", "pid", "data", "leg"))
    number: Counter[tuple[str, int, str]] = Counter()
    inside: Counter[tuple[str, int, str]] = Counter()
    pages: dict[tuple[str, int, str], set[tuple[int, int]]] = {}
    for log, pid, data, leg in zip(*columns, strict=True):
        names = scope.kernels[log].names
        process = names.tasks.get(pid, f"thread {pid}") if pid else IDLE
        key = process, log, fault_text(data & PAGE_BITS)
        number[key] += 1
        inside[key] += leg > 0
        pages.setdefault(key, set()).add((pid, data & ~PAGE_BITS))
    made = [FaultRow(*key, count, len(pages[key]), inside[key]) for key, count in number.items()]
    return sorted(made, key=lambda row: (-row.number, row.process, row.kind))

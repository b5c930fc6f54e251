# SPDX-License-Identifier: MIT
"""How long programs ran, waited for a CPU and slept: `skbviewer stats threads`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...scope import Scope
from ..duration_percentiles import spreads
from .thread_times import ran, slept, waited

KINDS = (("ran", ran), ("waited for a CPU", waited), ("slept", slept))
IDLE = "the idle task"


class ThreadRow(NamedTuple):
    """One kind of span (ran, waited, slept) of one program: number and lengths in ns."""

    process: str
    host: int  # source id of the KBL
    kind: str
    number: int
    total_ns: int
    mean_ns: int
    p50_ns: int
    p95_ns: int
    p99_ns: int
    max_ns: int


def thread_rows(scope: Scope) -> list[ThreadRow]:
    """Return what the scheduler did with each program in the range of time, longest total first.

    Raises Cancelled.
    """
    rows = []
    for kind, spans_of in KINDS:
        scope.progress.report("Counting", 0, 0)
        spans = spans_of(scope)
        keys = np.stack([spans.source, spans.pid], axis=1)
        used, group = np.unique(keys, axis=0, return_inverse=True)
        named = [(_name(scope, *key), key[0]) for key in used.tolist()]
        programs = sorted(set(named))
        place = np.array([programs.index(one) for one in named], np.int64)
        of = place[group.reshape(-1)] if len(place) else np.zeros(0, np.int64)
        found = spreads(of, spans.ns, len(programs))
        rows += [
            ThreadRow(name, host, kind, *spread)
            for (name, host), spread in zip(programs, found, strict=True)
        ]
    return sorted(rows, key=lambda row: (-row.total_ns, row.process, row.kind))


def _name(scope: Scope, source: int, pid: int) -> str:
    if not pid:
        return IDLE
    return scope.kernels[source].names.tasks.get(pid, f"thread {pid}")

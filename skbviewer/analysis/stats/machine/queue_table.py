# SPDX-License-Identifier: MIT
"""Lengths of queues: queueing disciplines, backlogs of CPUs, sockets: `skbviewer stats queues`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....records.kbl_layout import KblEvent
from ....records.types import Int64s
from ...scope import QueueOf, Scope
from ...words.event_text import queue_name
from ...words.kernel_log_names import MASK64
from ..duration_percentiles import spreads

MASK32 = 0xFFFFFFFF


class QueueRow(NamedTuple):
    """How long one queue was (in packets) each time it took or gave away a packet."""

    queue: str
    host: int  # source id of the KBL
    number: int
    mean: int
    p50: int
    p95: int
    p99: int
    most: int
    most_bytes: int


def queue_rows(scope: Scope) -> list[QueueRow]:
    """Return the lengths of queues in the range of time, the longest queue first.

    Raises Cancelled.
    """
    rows, named = queues_of(scope)
    data = scope.of_event("data", rows)
    queues = sorted(set(named))
    place = {queue: at for at, queue in enumerate(queues)}
    group = np.array([place[queue] for queue in named], np.int64)
    packets, size = data & MASK32, data >> 32 & MASK32
    most = np.zeros(len(queues), np.int64)
    np.maximum.at(most, group, size)
    found = spreads(group, packets, len(queues))
    made = [
        QueueRow(*queue, one.number, one.mean_ns, *one[3:], int(most[at]))
        for at, (queue, one) in enumerate(zip(queues, found, strict=True))
    ]
    return sorted(made, key=lambda row: (-row.most, -row.number, row.queue))


def queues_of(scope: Scope) -> tuple[Int64s, list[tuple[str, int]]]:
    """Return the events (0-based rows) that report lengths of queues in the range of time.

    For each event, the pair (queue, source id of the log) is also returned.  Raises Cancelled.
    """
    scope.progress.report("Counting", 0, 0)
    event = scope.columns.array("event", "event")
    kinds = (int(KblEvent.QUEUE_LENGTH), int(KblEvent.SOCK_LENGTH))
    rows = np.flatnonzero(np.isin(event, kinds))
    source, ts = scope.of_event("source", rows), scope.of_event("ts", rows)
    rows = rows[scope.in_range(source, ts)]
    return rows, list(
        zip(_names(scope, rows), scope.of_event("source", rows).tolist(), strict=True)
    )


def _names(scope: Scope, rows: Int64s) -> list[str]:
    """Return the name of the queue whose length each event reports."""
    beside = scope.details.queues()
    sockets = _sockets(scope, rows)
    columns = zip(
        rows.tolist(),
        scope.of_event("source", rows).tolist(),
        scope.of_event("cpu", rows).tolist(),
        sockets.tolist(),
        strict=True,
    )
    made = []
    for row, source, cpu, sock in columns:
        queue = beside.get(row + 1, QueueOf(0, 0, 0))
        if sock:
            made.append(f"socket 0x{sock & MASK64:x}")
        elif queue.ifindex > 0:
            made.append(queue_name(queue, scope.kernels[source].names))
        else:
            made.append(f"the backlog of CPU {cpu}")
    return made


def _sockets(scope: Scope, rows: Int64s) -> Int64s:
    """Return each reported length's socket, which is in a SOCK_ENQUEUE of the same CPU and time."""
    columns = scope.columns
    made = np.zeros(len(rows), np.int64)
    mine = np.flatnonzero(columns.array("event", "event")[rows] == int(KblEvent.SOCK_LENGTH))
    added = np.flatnonzero(columns.array("event", "event") == int(KblEvent.SOCK_ENQUEUE))
    at = dict(zip(_moments(scope, added), scope.of_event("data", added).tolist(), strict=True))
    made[mine] = [at.get(moment, -1) for moment in _moments(scope, rows[mine])]
    return made


def _moments(scope: Scope, rows: Int64s) -> list[tuple[int, int, int]]:
    """Return (source id of the log, CPU, time in ns) of each event."""
    source, cpu, ts = (scope.of_event(name, rows).tolist() for name in ("source", "cpu", "ts"))
    return list(zip(source, cpu, ts, strict=True))

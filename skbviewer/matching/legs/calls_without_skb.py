# SPDX-License-Identifier: MIT
"""Calls that have no skb and were recorded inside other calls (locks, routes, memory).

Such a call belongs to all packets of the innermost call around it that has any.  It takes no part
in matching and in the times of legs: hide() gives its record another kind, so that everything that
is made of the records is the same as without it.  Only the calls of a session are made of records
that are shown again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ...records import ColumnTable, KernelLog, part
from ...records.types import Bools, Int32s, Int64s
from ..arrays.record_column_blocks import record_blocks, rows_where
from ..lifetimes.call_nesting import Nesting
from ..record_kinds import ENTRY, by_probe
from .leg_cutting import LegTable
from .socket_calls import Joined

HIDDEN = 9  # not in kbl.h's enum kbl_kind


class InnerCalls:
    """The records of a log's calls without an skb; `rows` are their row numbers."""

    def __init__(self, log: KernelLog) -> None:
        self._log = log
        inner = by_probe({probe.id: 1 for probe in log.probes.values() if probe.inner})

        def wanted(some: slice) -> Bools:
            func = part(log.records, "func", some)
            known = (part(log.records, "kind", some) == ENTRY) & (func >= 0) & (func < len(inner))
            known[known] = inner[func[known]] != 0
            return np.asarray(known)

        found = rows_where(log.records, wanted) if len(inner) else np.zeros(0, np.int64)
        self.rows: Int32s = found.astype(np.int32)

    def hide(self) -> None:
        """Give the records a kind that nobody looks for."""
        self._set_kind(HIDDEN)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Let the records be calls, until the context ends."""
        self._set_kind(ENTRY)
        yield
        self._set_kind(HIDDEN)

    def _set_kind(self, kind: int) -> None:
        records = self._log.records
        column = records.stored("kind") if isinstance(records, ColumnTable) else records["kind"]
        if len(self.rows):
            column[self.rows] = kind

    def joined(self, legs: LegTable, nesting: Nesting, sockets: Joined) -> Joined:
        """Return the pairs `sockets` and those of these calls, sorted.

        `nesting` was made while the records were shown.
        """
        entry, leg = _owners(self._log, legs, nesting, sockets)
        around = np.full(len(self.rows), -1, np.int64)
        for some in record_blocks(self._log.records, len(self.rows)):
            for position, call in nesting.calls_around(self.rows[some]):
                position = position + some.start
                found = _is_among(call, entry) & (around[position] < 0)
                around[position[found]] = call[found]
        first, last = (np.searchsorted(entry, around, side) for side in ("left", "right"))
        count = np.where(around >= 0, last - first, 0)
        begin = np.cumsum(count) - count
        every = np.repeat(first - begin, count) + np.arange(count.sum())
        entries = np.concatenate([sockets.entry, np.repeat(self.rows, count)])
        pairs = np.stack([entries, np.concatenate([sockets.leg, leg[every]])], axis=1)
        pairs = np.unique(pairs.astype(np.int64), axis=0)
        return Joined(np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]))


def _is_among(call: Int64s, entry: Int64s) -> Bools:
    """Return for each call whether it is one of the sorted `entry`."""
    if not len(entry):
        return np.zeros(len(call), np.bool_)
    return np.asarray(entry[np.minimum(np.searchsorted(entry, call), len(entry) - 1)] == call)


def _owners(
    log: KernelLog, legs: LegTable, nesting: Nesting, sockets: Joined
) -> tuple[Int64s, Int64s]:
    """Return the legs of all calls that have any, sorted by call: a list's call has several."""
    entries, of = [sockets.entry], [sockets.leg]
    for some in record_blocks(log.records):
        is_call = part(log.records, "kind", some) == ENTRY
        mine = np.flatnonzero(is_call & (legs.of[some] >= 0)) + some.start
        entries.append(nesting.owner(mine).astype(np.int64))
        of.append(legs.of[mine].astype(np.int64))
    entry, leg = np.concatenate(entries), np.concatenate(of)
    order = np.argsort(entry, kind="stable")
    return entry[order], leg[order]

# SPDX-License-Identifier: MIT
"""Calls that have no skb and were recorded within other calls (locks, routes, memory).

A call without an skb belongs to the packets of the innermost call around it that has packets.
Matching and the times of legs ignore calls without an skb: hide() gives their records another kind,
so that results are equal with and without them.  The records of calls without an skb are shown
again only while the calls of a session are made.
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
        """Give the records of calls without an skb a kind that all other code ignores."""
        self._set_kind(HIDDEN)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Give the records of calls without an skb their own kind back, until the context ends."""
        self._set_kind(ENTRY)
        yield
        self._set_kind(HIDDEN)

    def _set_kind(self, kind: int) -> None:
        records = self._log.records
        column = records.stored("kind") if isinstance(records, ColumnTable) else records["kind"]
        if len(self.rows):
            column[self.rows] = kind

    def joined(self, legs: LegTable, nesting: Nesting, sockets: Joined) -> Joined:
        """Return the pairs `sockets` and the pairs of the calls without an skb, sorted.

        `nesting` must have been made while the records were shown.
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
    """Return for each call whether the sorted array `entry` contains it."""
    if not len(entry):
        return np.zeros(len(call), np.bool_)
    return np.asarray(entry[np.minimum(np.searchsorted(entry, call), len(entry) - 1)] == call)


def _owners(
    log: KernelLog, legs: LegTable, nesting: Nesting, sockets: Joined
) -> tuple[Int64s, Int64s]:
    """Return (call, leg) for all calls with legs, sorted by call.

    The call for a list of packets has several legs.
    """
    entries, of = [sockets.entry], [sockets.leg]
    for some in record_blocks(log.records):
        is_call = part(log.records, "kind", some) == ENTRY
        mine = np.flatnonzero(is_call & (legs.of[some] >= 0)) + some.start
        entries.append(nesting.owner(mine).astype(np.int64))
        of.append(legs.of[mine].astype(np.int64))
    entry, leg = np.concatenate(entries), np.concatenate(of)
    order = np.argsort(entry, kind="stable")
    return entry[order], leg[order]

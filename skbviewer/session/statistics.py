# SPDX-License-Identifier: MIT
"""Statistics of an open session: which legs and calls count, and their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..analysis import names_of
from ..analysis.session_time import Clock, packet_times
from ..analysis.stats import (
    CONVERSATION_KINDS,
    Chosen,
    Conversation,
    Kernel,
    Scope,
    conversations,
)
from ..records import UNTIMED, Progress, Silent, SourceRow
from ..store import Columns, queries
from .annotations import RowIds

T = TypeVar("T")


def scope_of(
    db: Any, columns: Columns, sources: Sequence[SourceRow], clock: Clock, chosen: Chosen
) -> Scope:
    """Return the scope that `chosen` selects in the open session `db`."""
    kernels = {
        s.id: Kernel(names_of(db, s.id), queries.functions(db, s.id), queries.losses(db, s.id))
        for s in sources
        if s.kind == "kbl"
    }
    return Scope(columns, kernels, clock, chosen)


def begin_of(columns: Columns, sources: Sequence[SourceRow], clock: Clock) -> int:
    """Return the session time of packet 1, else of the first leg, else 0 (ns).

    The Time column begins there.
    """
    table, column = ("packet", "ts") if columns.length("packet") else ("leg", "begin_ns")
    if not columns.length(table):
        return 0
    ts = np.asarray(columns.array(table, column), np.int64)
    source = np.asarray(columns.array(table, "source"))
    if table == "packet":
        if ts[0] == UNTIMED:
            return 0
        return int(packet_times(columns, clock, int(source[0]), np.array([0]), ts[:1])[0])
    return min(
        int(clock.to_session(s.id, ts[source == s.id]).min())
        for s in sources
        if np.any(source == s.id)
    )


def by_kind(
    tell: Callable[[Columns, str, RowIds | None], list[T]],
    columns: Columns,
    rows: RowIds | None,
    progress: Progress | None,
) -> dict[str, list[T]]:
    """Call `tell` for each kind of conversation with the packets of `rows`.  Raises Cancelled."""
    packets = None if rows is None else rows[rows > 0]
    found, watch = {}, progress or Silent()
    for done, kind in enumerate(CONVERSATION_KINDS):
        watch.report("counting", done, len(CONVERSATION_KINDS))
        found[kind] = tell(columns, kind, packets)
    return found


def talks(
    columns: Columns,
    sources: Sequence[SourceRow],
    clock: Clock,
    rows: RowIds | None,
    progress: Progress | None,
) -> dict[str, list[Conversation]]:
    """Return by_kind() of conversations, with all times on one clock.  Raises Cancelled."""
    tell = partial(conversations, times=_capture_times(columns, sources, clock))
    return by_kind(tell, columns, rows, progress)


def _capture_times(columns: Columns, sources: Sequence[SourceRow], clock: Clock) -> RowIds | None:
    """Return when all packets were captured, on the first capture's clock (int64, ns).

    None means that their own times are on that clock already.
    """
    captures = [source.id for source in sources if source.kind != "kbl"]
    if not captures or (len(captures) < 2 and not clock.interfaces(captures[0])):
        return None
    ts = np.asarray(columns.array("packet", "ts")).astype(np.int64)
    source = np.asarray(columns.array("packet", "source"))
    for one in captures[0 if clock.interfaces(captures[0]) else 1 :]:
        mine = np.flatnonzero((source == one) & (ts != UNTIMED))
        at = packet_times(columns, clock, one, mine, ts[mine])
        ts[mine] = clock.to_source(captures[0], at)
    return ts

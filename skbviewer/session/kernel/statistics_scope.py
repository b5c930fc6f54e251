# SPDX-License-Identifier: MIT
"""The scope of statistics of an open session: the legs and calls that count, and their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np

from ...analysis import names_of
from ...analysis.fields.field_source_tables import Data
from ...analysis.scope import NO_DETAILS
from ...analysis.scope.without_inner_calls import columns_without_inner
from ...analysis.stats import Chosen, Details, Kernel, QueueOf, Scope
from ...analysis.timeline.packet_session_times import Clock, packet_times
from ...matching import sample_of
from ...records import UNTIMED, Progress, SourceRow
from ...records.types import Int64s
from ...store import Columns, Database, queries
from .clocks import clock_json


def scope_of(
    db: Database,
    columns: Columns,
    sources: Sequence[SourceRow],
    clock: Clock,
    chosen: Chosen,
    progress: Progress | None = None,
    fields: Data | None = None,
    details: Details = NO_DETAILS,
) -> Scope:
    """Return the scope that `chosen` selects in the open session `db`.

    The other arguments are the columns of the session, its inputs, its clock, and details of its
    events.
    """
    kernels = {s.id: _kernel(db, s.id) for s in sources if s.kind.is_log}
    captures = tuple(s.id for s in sources if not s.kind.is_log)
    fits = clock_json(db)
    if not chosen.inner:
        columns = columns_without_inner(columns)
    return Scope(columns, kernels, clock, chosen, fits, captures, progress, fields, details)


def details_of(database: Callable[[], AbstractContextManager[Database]]) -> Details:
    """Return the details of the events of a session; `database` opens the session."""

    def stacks() -> Int64s:
        with database() as db:
            return queries.stacks(db)

    def queues() -> dict[int, QueueOf]:
        with database() as db:
            return {event: QueueOf(*queue) for event, *queue in queries.devices_of_events(db)}

    return Details(stacks, queues)


def _kernel(db: Database, log: int) -> Kernel:
    sample, functions = sample_of(queries.meta(db, log)), queries.functions(db, log)
    unarmed = frozenset(functions.values()) - queries.armed_functions(db, log)
    return Kernel(names_of(db, log), functions, queries.losses(db, log), sample, unarmed)


def begin_of(columns: Columns, sources: Sequence[SourceRow], clock: Clock) -> int:
    """Return the session time (ns) from which the Time column counts.

    The Time column counts from packet 1; without packets, from the first leg; without legs, from 0.
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

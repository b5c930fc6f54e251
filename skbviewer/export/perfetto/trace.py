# SPDX-License-Identifier: MIT
"""Calls, events and counters of packets as a trace for Perfetto.

Input: the legs of the packets that a request names. Output: a protobuf trace. Each thread has a
track, and so has each context of a CPU that is no thread, such as softirq. Calls that do not nest
are divided into several tracks, because Perfetto drops slices that overlap. Calls are slices, with
their layers as categories. Events, and calls without a recorded return, are instants. Flows connect
the outermost calls that handled the same packet. Times are session time, which is CLOCK_REALTIME of
the first kernel log's host. Format: https://perfetto.dev/docs/reference/trace-packet-proto
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from ...analysis.fields.field_source_tables import CALL
from ...analysis.words.wait_kinds import NAMES, QDISC, QUEUE, SOCKET
from ...records import BadInput
from ...records.types import Int64s
from ..atomic_write import written_file
from ..formats import Exportable, Request
from .chosen_legs import ChosenLegs, chosen_legs, field_data_of
from .packet_counters import counters_of
from .slices import EVENT, Slices, rows_of, slices_of
from .trace_packet_loops import FLOW, LARGEST, Events, write_events
from .track_nesting_loops import INSTANT, assign, events

if TYPE_CHECKING:
    from .trace_head import Head

MOST = 10_000_000  # calls and events; Perfetto's window takes about 2 GB, and they have 0.1 KB each
WAITS = tuple((kind, f"packets waiting: {NAMES[kind]}") for kind in (QDISC, SOCKET, QUEUE))
AT_ONCE = 1 << 17  # events
STEPS = 4  # of progress before events are written


def write_perfetto(recording: Exportable, request: Request, out: Path) -> None:
    """Write the calls and events of the packets that `request` names.

    Raises KeyError if a packet does not exist, FilterError if the filter is wrong, and Cancelled if
    the user cancels. Raises BadInput if there is no kernel log, `out` cannot be written, the
    package perfetto is missing, or there are more than MOST calls and events.
    """
    try:
        from . import trace_head  # noqa: F401  # needs the optional package
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("perfetto", "google"):
            raise
        why = 'needs the package perfetto: pip install "skbviewer[perfetto]"'
        raise BadInput(out, None, why) from error
    data, progress = field_data_of(recording), request.progress
    legs = chosen_legs(recording, request)
    calls, others = rows_of(data, CALL, legs), rows_of(data, EVENT, legs)
    if len(calls) + len(others) > MOST:
        why = f"{len(calls) + len(others):,} calls and events are more than {MOST:,}"
        raise BadInput(out, None, f"{why}: choose packets with '--filter', '--range' or '--packet'")
    progress.report("Reading calls", 1, STEPS)
    slices = slices_of(recording, legs, calls, others)
    with written_file(out) as file:
        _write(recording, request, legs, slices, file)


def _write(
    recording: Exportable, request: Request, legs: ChosenLegs, slices: Slices, file: BinaryIO
) -> None:
    from .trace_head import UUID, Head, fields

    progress = request.progress
    progress.report("Ordering calls", 2, STEPS)
    kind, row, when, level = events_in_order(slices)
    levels = int(level.max(initial=0)) + 1
    distinct, place = np.unique(slices.track * levels + level, return_inverse=True)
    head = Head(file)
    _describe(recording, legs, slices, head)
    head.tracks(slices.tracks, distinct // levels, distinct % levels)
    progress.report("Counting packets", 3, STEPS)
    head.counters(counters_of(recording, legs, WAITS))
    columns = Events(
        kind, row, np.maximum(when, 0), slices.name, slices.category,
        place.astype(np.int64) + UUID, slices.title, slices.own, slices.cpu,
        slices.flows, slices.ends,
    )  # fmt: skip
    numbers = fields()
    most_flows = int(np.diff(slices.ends).max(initial=0))
    buffer = np.empty(AT_ONCE * LARGEST + FLOW * (len(slices.flows) + most_flows), np.uint8)
    for first in range(0, len(kind), AT_ONCE):
        last = min(first + AT_ONCE, len(kind))
        progress.report("Writing calls", first, len(kind))
        size = int(write_events(buffer, numbers, columns, first, last))
        file.write(buffer[:size].data)


def _describe(recording: Exportable, legs: ChosenLegs, slices: Slices, head: Head) -> None:
    from .trace_head import log_title

    used = set(np.unique(legs.source[legs.chosen]).tolist())
    logs = [source for source in recording.sources() if source.kind.is_log]
    shown = [source for source in logs if source.id in used]
    head.names(slices)
    first = logs[0].id
    (zero,) = recording.export.to_session(first, np.zeros(1, np.int64)).tolist()
    begin = int(slices.begin.min()) if len(slices.begin) else zero
    head.clocks(max(begin, 0), max(begin - zero, 0))
    head.logs({s.id: log_title(s.path, s.detail.get("hostname", "")) for s in shown})


def events_in_order(slices: Slices) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Return kind, row and time (ns) of each start and end in order of time, and each row's level.

    The slices of one level of a track nest: every end belongs to the open slice that began last.
    """
    timed = np.flatnonzero(slices.end >= 0)
    begin, end = slices.begin[timed], slices.end[timed]
    order = np.lexsort((slices.depth[timed], -end, begin, slices.track[timed]))
    timed = timed[order]
    track, begin, end = slices.track[timed], slices.begin[timed], slices.end[timed]
    level = np.zeros(len(slices.begin), np.int64)
    found = np.empty(len(timed), np.int64)
    levels = int(assign(track, begin, end, found))
    level[timed] = found
    order = np.lexsort((np.arange(len(timed)), track * (levels + 1) + found))
    kind, row, when = (np.empty(2 * len(timed), np.int64) for _ in range(3))
    key = (track * (levels + 1) + found)[order]
    events(key, begin[order], end[order], kind, row, when)
    alone = np.flatnonzero(slices.end < 0)
    kind = np.r_[kind, np.full(len(alone), INSTANT)]
    row = np.r_[timed[order][row], alone]
    when = np.r_[when, slices.begin[alone]]
    by_time = np.argsort(when, kind="stable")
    return kind[by_time], row[by_time], when[by_time], level

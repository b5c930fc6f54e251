# SPDX-License-Identifier: MIT
"""The timeline of an open session: its lanes, its overview, and the session times of notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ...analysis.calls.interruptions import MARK_INNER
from ...analysis.timeline import lanes
from ...analysis.timeline.function_numbers import Functions
from ...analysis.timeline.group_order import order_by
from ...analysis.timeline.lane_calls import calls_by, use_stored_rows, wires_of
from ...analysis.timeline.lanes import KINDS, Lane, LaneKey, LaneWait, Part, Timeline, Wire
from ...analysis.timeline.packet_session_times import Clock
from ...analysis.timeline.pixel_bins import DROP, OPEN
from ...analysis.timeline.session_overview import Gap, Overview, overview
from ...analysis.words.function_layers import layers
from ...analysis.words.wait_kinds import NAMES, UNKNOWN
from ...matching import EXACT
from ...records import (
    Annotation,
    NotePlace,
    Progress,
    Silent,
    SourceKind,
    SourceRow,
)
from ...records.scratch_memory import Scratch
from ...store import Columns, Database, queries
from ...store import timeline_queries as store
from ..exported_rows import MOST_IDS
from ..input_files import cache_folder
from ..open_session_file import OpenedFile
from ..packets.packet_list import PacketList
from .clocks import session_time
from .log_names import log_names
from .machine_lanes import machine_lanes

MANY_BOXES = 1 << 22  # more boxes than these are in files, 19 bytes each


def overview_of(db: Database, columns: Columns, clock: Clock, watch: Progress | None) -> Overview:
    """Return the overview of the whole session: its span of time, captures and gaps.

    If `watch` is given, it gets reports of the progress.
    """
    (watch or Silent()).report("looking over the recording", 0, 1)
    gaps = [
        Gap(row.ts - max(row.dur, 0), row.ts, row.cpu, row.source, row.data, row.flags)
        for row in store.gaps(db)
    ]
    return overview(columns, clock, _captures(db), gaps)


def timeline_of(
    db: Database,
    opened: OpenedFile,
    packets: PacketList,
    clock: Clock,
    kind: str,
    ids: Sequence[int],
    whole: Overview,
    watch: Progress | None,
) -> Timeline:
    """Return lanes of the kind `kind`, one of KINDS; `whole` is the overview of the session.

    If `kind` is "packet" or "aligned", there is a lane for each of the first MOST_IDS rows in `ids`
    (n = packet n, -n = K<n>).  Raises ValueError for an unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"no lanes by {kind!r}")
    bounds = (whole.t0_ns, whole.t0_ns + whole.span_ns)
    if kind in lanes.PACKET_KINDS:
        return _of_packets(db, opened, packets, kind, list(ids)[:MOST_IDS], bounds, clock)
    names = _functions(db, opened)
    scratch = _scratch(opened.columns)
    if scratch.in_files:
        opened.columns.forget()
    columns, t0_ns = opened.shown_columns(), bounds[0]
    part, keys = calls_by(kind, columns, clock, names, t0_ns, watch or Silent(), scratch)
    if columns is not opened.columns:
        use_stored_rows(part.item, columns)
    titles = _Titles(db, opened.sources())
    calls = [Lane(titles.lane_title(kind, key), 0, 0, "calls", key.key, key.source) for key in keys]
    captures = _captures(db)
    wires = wires_of(opened.columns, clock, captures, bounds[0], scratch)
    wire_lanes = [
        Lane(titles.capture(source), 0, 0, "wire", source, source, clock.error(source))
        for source, _, _ in captures
    ]
    parts, known = [(wires, wire_lanes), (part, calls)], names.names
    if kind == "cpu":
        logs = log_names(opened.sources())
        given = (db, opened, clock, bounds[0], known, logs, watch)
        boxes, titled, known = machine_lanes(*given)
        parts.append((boxes, titled))
    del wires, part  # frees memory for assemble()
    return lanes.assemble(kind, bounds, parts, known, scratch=scratch)


def _functions(db: Database, opened: OpenedFile) -> Functions:
    logs = [source.id for source in opened.sources() if source.kind.is_log]
    inner = frozenset[str]().union(*(opened.names_of(log).inner_functions for log in logs))
    return Functions(store.functions(db), inner)


def _scratch(columns: Columns) -> Scratch:
    """Return the memory for boxes; for a large recording, files in the user's cache folder."""
    if columns.length("call") + columns.length("packet") < MANY_BOXES:
        return Scratch()
    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home folder
        return Scratch()
    return Scratch(folder)


def places_of(db: Database, clock: Clock, notes: Sequence[Annotation]) -> list[NotePlace]:
    """Return each of `notes` with its session time. Notes that refer to no time are left out."""
    found = (_note_place(db, clock, note) for note in notes)
    return [place for place in found if place is not None]


def _note_place(db: Database, clock: Clock, note: Annotation) -> NotePlace | None:
    if note.call is not None:
        span = store.time_of_call(db, note.call)
    elif note.packet is not None:
        span = store.time_of_packet(db, note.packet)
    elif note.series is not None:
        span = store.time_of_series(db, note.series)
    elif note.source is not None and note.begin_ns is not None:
        span = (note.source, note.begin_ns, (note.end_ns or note.begin_ns) - note.begin_ns)
    else:
        span = None
    if span is None:
        return None
    source, begin, length = span
    if note.packet is not None and note.call is None:
        at, _ = session_time(db, clock, source, note.packet, begin)
    else:
        at = int(clock.to_session(source, np.array([begin], np.int64))[0])
    return NotePlace(note, at, at + max(length, 0))


def range_note(
    clock: Clock, sources: Sequence[SourceRow], text: str, times: tuple[int, int]
) -> Annotation:
    """Return a note with the text `text` about a range of session time (begin, end; ns).

    The note stores the range on the clock of the first KBL, or of the first capture if there is no
    KBL.
    """
    first = min(sources, key=lambda source: not source.kind.is_log)
    begin, end = clock.to_source(first.id, np.array(times, np.int64)).tolist()
    return Annotation("range_note", text, source=first.id, begin_ns=begin, end_ns=end)


def _captures(db: Database) -> list[tuple[int, int, int]]:
    """Return (source, row of its first packet, number of packets) for each capture."""
    rows = queries.sources(db)
    return [(row.id, row.first - 1, row.rows) for row in rows if not SourceKind(row.kind).is_log]


def _of_packets(
    db: Database,
    opened: OpenedFile,
    packets: PacketList,
    kind: str,
    ids: list[int],
    bounds: tuple[int, int],
    clock: Clock,
) -> Timeline:
    legs = dict[int, list[int]]()  # lanes by leg: several sniffers may have caught one packet
    matches = store.legs_of_packets(db, [n for n in ids if n > 0])
    exact = {row.packet for row in matches if row.verdict == EXACT}
    for row in matches:
        if row.verdict == EXACT:
            legs.setdefault(row.leg, []).append(ids.index(row.packet))
        elif row.packet not in exact:
            legs.setdefault(row.leg, [ids.index(row.packet)])
    for life in store.legs_of_kernel_only(db, [-n for n in ids if n < 0]):
        legs.setdefault(life.leg, [ids.index(-life.kernel_only)])
    names = _functions(db, opened)
    calls = store.calls_of_legs(db, list(legs))
    if not opened.shows_inner:
        calls = [call for call in calls if not call.marks & MARK_INNER]
    part = _part(calls, legs, names, bounds[0], clock)
    rows = {n: packets.numbered(n, 1)[0] for n in ids if n > 0}
    named, wires = [], []
    for number, one in enumerate(ids):
        title = f"K{-one}"
        if one > 0:
            packet = rows[one]
            ends = f"{packet.source_text} → {packet.destination_text}"
            title = f"{one}  {ends}  {packet.protocol_name}"
            if packet.ts_ns is not None:
                at, error = session_time(db, clock, packet.source, one, packet.ts_ns)
                wires.append(Wire(number, one, at - bounds[0], error))
        named.append(Lane(title, 0, 0, "calls", one, rows[one].source if one > 0 else 0))
    waits = _waits(store.waits_of_legs(db, list(legs)), legs, bounds[0], clock)
    if kind == lanes.ALIGNED:
        part, aligned, waits, end = lanes.align(part, len(named), wires, waits)
        return lanes.assemble(kind, (0, end), [(part, named)], names.names, aligned, waits)
    return lanes.assemble(kind, bounds, [(part, named)], names.names, tuple(wires), waits)


def _waits(
    rows: Sequence[store.WaitOfLeg], of_leg: Mapping[int, Sequence[int]], t0_ns: int, clock: Clock
) -> tuple[LaneWait, ...]:
    """Return the waits of `rows` whose reason is known; times are ns since `t0_ns`.

    `of_leg` has the lanes in which each leg is.
    """
    found = []
    for row in rows:
        if row.kind not in UNKNOWN:
            times = np.array([row.begin_ns, row.end_ns], np.int64)
            begin, end = (clock.to_session(row.source, times) - t0_ns).tolist()
            found += [LaneWait(lane, begin, end, NAMES[row.kind]) for lane in of_leg[row.leg]]
    return tuple(found)


def _part(
    rows: Sequence[store.CallOfLeg],
    of_leg: Mapping[int, Sequence[int]],
    functions: Functions,
    t0_ns: int,
    clock: Clock,
) -> Part:
    """Return the calls of legs as boxes; a call is in each lane of its leg."""
    lane = np.array([lane for row in rows for lane in of_leg[row.leg]], np.int64)
    rows = [row for row in rows for _ in of_leg[row.leg]]
    count = len(rows)
    source, entry, func, dur, reason, item = (
        np.fromiter((row[at] for row in rows), np.int64, count) for at in (2, 4, 3, 5, 6, 0)
    )
    begin, name = np.zeros(count, np.int64), np.zeros(count, np.uint16)
    for one in np.unique(source).tolist():
        mine = source == one
        begin[mine] = clock.to_session(one, entry[mine]) - t0_ns
        name[mine] = functions.numbers(one, func[mine])
    look = functions.layers(name)
    look[dur < 0] |= OPEN
    look[reason >= 0] |= DROP
    order = order_by(lane, begin)
    dur, item = np.maximum(dur, 0), item - 1
    return Part(lane[order], begin[order], dur[order], look[order], item[order], name[order])


class _Titles:
    """Titles of lanes; if there are several logs, they include the name of the log."""

    def __init__(self, db: Database, sources: Sequence[SourceRow]) -> None:
        self._sources = {source.id: source for source in sources}
        self._tasks: dict[int, dict[int, str]] = {}
        self._db = db
        self._logs = log_names(sources)

    def lane_title(self, kind: str, lane: LaneKey) -> str:
        """Return the title of a lane of calls; `kind` is the kind of the lanes."""
        if kind == "cpu":
            title = f"CPU {lane.key}"
        elif kind == "layer":
            title = f"{layers()[lane.key].name} · CPU {lane.cpu}"
        else:
            title = self._task(lane)
        log = self._logs.get(lane.source, "")
        return f"{title} ({log})" if log else title

    def capture(self, source: int) -> str:
        """Return the title of the lane of a capture."""
        return f"wire: {Path(self._sources[source].path).name}"

    def _task(self, lane: LaneKey) -> str:
        if lane.source not in self._tasks:
            self._tasks[lane.source] = queries.tasks(self._db, lane.source)
        if lane.key == 0:
            return f"idle · CPU {lane.cpu}"
        name = self._tasks[lane.source].get(lane.key, "")
        return f"{name} [{lane.key}]" if name else f"[{lane.key}]"

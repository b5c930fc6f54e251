# SPDX-License-Identifier: MIT
"""The calls of a session, or of some packets, in lanes by CPU, layer or process.

Input: column chunks, the time base, and each KBL's function names.  Output: a Timeline, whose times
are ns of session time since `t0_ns`.  Each lane has rows in which calls nest.  Captures have a lane
with the wire times of their packets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import UNTIMED, Progress
from ...records.types import Int64s
from .function_numbers import Functions, layer_names
from .pixel_bins import DROP, LAYER, OPEN, Boxes, bins, boxes, durations
from .row_stacking import order_by, ranks, stack
from .session_time import Clock, Columns, packet_times

PACKET, ALIGNED = "packet", "aligned"
PACKET_KINDS = (PACKET, ALIGNED)  # a lane for each packet: in session time, or each from 0 on
KINDS = ("cpu", *PACKET_KINDS, "layer", "process")
WIRE = 30  # layer number of wire times
SOCK = 0x80  # kbl.h KBL_FLAG_SOCK
SLEPT = 1 | 2  # marks of a call whose thread left the CPU during the call
WIRE_LAYER = "wire"


class Lane(NamedTuple):
    """A lane: `rows` rows, from the row `first` on."""

    title: str
    first: int
    rows: int
    what: str  # "calls", "wire" or "events": the table to which the boxes' items refer
    key: int  # CPU, layer's number, thread id or packet number (-n = K<n>); for wire times: source
    source: int  # KBL or capture, 0 = several
    error_ns: int = 0  # possible error of the wire times


class Wire(NamedTuple):
    """The capture time `at` of a packet in a lane, ns since t0_ns, with its possible error."""

    lane: int
    packet: int
    at: int
    error_ns: int


class LaneWait(NamedTuple):
    """A wait of the packet of a lane, from `begin` to `end`, ns since t0_ns; `what` is its kind."""

    lane: int
    begin: int
    end: int
    what: str


@dataclass(frozen=True)
class Timeline:
    """Lanes of boxes; boxes hold indices of `layers` and `names`."""

    kind: str
    t0_ns: int
    span_ns: int
    lanes: tuple[Lane, ...]
    boxes: Boxes
    layers: tuple[str, ...]
    names: tuple[str, ...] = ("",)  # of functions; 0 = no function
    wires: tuple[Wire, ...] = ()
    waits: tuple[LaneWait, ...] = ()

    @property
    def is_relative(self) -> bool:
        """Return whether each lane's times count from its first entry (ns); then t0_ns is 0."""
        return self.kind == ALIGNED

    @property
    def rows(self) -> int:
        """Return the number of rows of all lanes together."""
        return sum(lane.rows for lane in self.lanes)

    def bins(
        self, begin_ns: int, end_ns: int, width: int, rows: range | None = None
    ) -> npt.NDArray[np.void]:
        """Return what to draw from `begin_ns` to `end_ns` (ns since t0_ns) on `width` pixels.

        `rows` are the rows in sight; None means all.  The result has BIN_DTYPE.
        """
        chosen = range(self.rows) if rows is None else rows
        return bins(self.boxes, begin_ns, end_ns, max(width, 1), chosen)

    def lane_of(self, row: int) -> Lane:
        """Return the lane to which a row belongs."""
        return next(lane for lane in self.lanes if lane.first <= row < lane.first + lane.rows)


class LaneKey(NamedTuple):
    """The content of a lane: `key` as in Lane; `cpu` is -1 if it shows all CPUs."""

    key: int
    cpu: int
    source: int


class Part(NamedTuple):
    """Boxes before they are stacked, each with a lane number; sorted by (lane, begin)."""

    lane: npt.NDArray[np.integer]
    begin: Int64s
    end: Int64s
    look: npt.NDArray[np.uint8]
    item: npt.NDArray[np.integer]
    name: npt.NDArray[np.uint16]
    lower: npt.NDArray[np.bool_] | None = None  # put in rows below the other boxes of their lane


def calls_by(
    kind: str,
    columns: Columns,
    clock: Clock,
    functions: Functions,
    t0_ns: int,
    progress: Progress,
) -> tuple[Part, list[LaneKey]]:
    """Return all calls as boxes in lanes of `kind`, and the content of each lane.

    `kind` is "cpu", "layer" or "process".  A call that has only a socket appears once, although it
    belongs to several packets.  Box times are ns of session time, minus `t0_ns`.
    """
    progress.report("arranging calls", 0, 4)
    rows = _once(columns)
    source = _sources(columns, rows)
    begin = _times(columns, clock, rows, source, t0_ns)
    progress.report("arranging calls", 1, 4)
    name = _names(columns, rows, source, functions)
    look = functions.layers(name)
    look[_of(columns, "call", "dur_ns", rows) < 0] |= OPEN
    look[_of(columns, "call", "drop_reason", rows) >= 0] |= DROP
    lane, keys = _lanes(kind, columns, rows, source, look)
    order = order_by(lane, begin).astype(np.int32)
    progress.report("arranging calls", 2, 4)
    begin = begin[order]
    end = begin + np.maximum(_of(columns, "call", "dur_ns", rows)[order], 0)
    slept = (_of(columns, "call", "marks", rows)[order] & SLEPT) != 0 if kind == "cpu" else None
    item = order if rows is None else rows[order].astype(np.int32)
    return Part(lane[order], begin, end, look[order], item, name[order], slept), keys


def wires_of(
    columns: Columns, clock: Clock, captures: Sequence[tuple[int, int, int]], t0_ns: int
) -> Part:
    """Return the known times of capture of all packets, as boxes without length.

    `captures` are (source, first packet's row, number of packets), one lane each.  Times are ns of
    session time, minus `t0_ns`.
    """
    ts = columns.once("packet", "ts")
    lanes, begins, items = [], [], []
    for number, (source, first, count) in enumerate(captures):
        own = ts[first : first + count].astype(np.int64)
        timed = np.flatnonzero(own != UNTIMED)
        at = packet_times(columns, clock, source, timed + first, own[timed]) - t0_ns
        order = np.argsort(at, kind="stable")
        lanes.append(np.full(len(at), number))
        begins.append(at[order])
        items.append((timed[order] + first).astype(np.int32))
    empty = np.zeros(0, np.int64)
    lane, begin = np.concatenate([empty, *lanes]), np.concatenate([empty, *begins])
    item = np.concatenate([empty.astype(np.int32), *items])
    look, name = np.full(len(lane), WIRE, np.uint8), np.zeros(len(lane), np.uint16)
    return Part(lane, begin, begin, look, item, name)


def align(
    part: Part, lanes: int, wires: Sequence[Wire], waits: Sequence[LaneWait] = ()
) -> tuple[Part, tuple[Wire, ...], tuple[LaneWait, ...], int]:
    """Shift each lane so that its first entry is at time 0; without an entry, its wire time.

    `lanes` is the number of lanes.  Returns the shifted boxes, wire times and waits, and the time
    (ns) at which the last box ends.
    """
    bounds = np.searchsorted(part.lane, np.arange(lanes + 1))
    first = {wire.lane: wire.at for wire in wires}
    for lane in np.flatnonzero(np.diff(bounds)).tolist():
        first[lane] = int(part.begin[bounds[lane]])
    shift = np.array([first.get(lane, 0) for lane in range(lanes)] or [0], np.int64)[part.lane]
    moved = part._replace(begin=part.begin - shift, end=part.end - shift)
    aligned = tuple(wire._replace(at=wire.at - first[wire.lane]) for wire in wires)
    waited = tuple(
        wait._replace(begin=wait.begin - first[wait.lane], end=wait.end - first[wait.lane])
        for wait in waits
        if wait.lane in first
    )
    ends = [int(moved.end.max(initial=0)), *(wire.at for wire in aligned)]
    return moved, aligned, waited, max(ends) + 1


def assemble(
    kind: str,
    bounds: tuple[int, int],
    parts: list[tuple[Part, list[Lane]]],
    names: tuple[str, ...],
    wires: tuple[Wire, ...] = (),
    waits: tuple[LaneWait, ...] = (),
) -> Timeline:
    """Return a timeline of `kind` from boxes that are not yet stacked in rows.

    `bounds` are t0_ns and the end, ns of session time; `names` are those of functions by number.
    The lanes in `parts` have titles, but no rows yet.  This function empties `parts`, so that large
    columns are not in memory twice.
    """
    lanes: list[Lane] = []
    stacked: list[tuple[npt.NDArray[np.int32], dict[str, Any]]] = []
    first = 0
    while parts:
        part, named = parts.pop(0)
        row, counts = _stacked(part, len(named), first)
        for lane, count in zip(named, counts, strict=True):
            lanes.append(lane._replace(first=first, rows=count))
            first += count
        stacked.append((row, part._asdict() | {"end": durations(part.begin, part.end)}))
        del part
    layer = layer_names()
    layer += ("",) * (WIRE - len(layer)) + (WIRE_LAYER,)
    span = bounds[1] - bounds[0]
    joined = _join(stacked, first)
    return Timeline(kind, bounds[0], span, tuple(lanes), joined, layer, names, wires, waits)


def _stacked(part: Part, lanes: int, first: int) -> tuple[npt.NDArray[np.int32], list[int]]:
    """Return the row of each box, from `first` on, and how many rows each lane has (1 or more)."""
    bounds = np.searchsorted(part.lane, np.arange(lanes + 1))
    row = np.zeros(len(part.lane), np.int32)
    counts = []
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        mine = row[low:high]
        lower = np.zeros(high - low, np.bool_) if part.lower is None else part.lower[low:high]
        used = 0
        for group in (np.flatnonzero(~lower), np.flatnonzero(lower)):
            if len(group):
                depth = stack(part.begin[low:high][group], part.end[low:high][group])
                mine[group] = first + used + depth.astype(np.int32)
                used += int(depth.max()) + 1
        counts.append(max(used, 1))
        first += counts[-1]
    return row, counts


def _join(stacked: list[tuple[npt.NDArray[np.int32], dict[str, Any]]], rows: int) -> Boxes:
    """Return all boxes by row; empties `stacked`, whose parts must be in order of rows."""
    small = np.uint16 if rows < 1 << 16 else np.int32
    orders = [np.argsort(row.astype(small), kind="stable").astype(np.int32) for row, _ in stacked]
    sorted_rows = [row[order] for (row, _), order in zip(stacked, orders, strict=True)]
    row = np.concatenate([np.zeros(0, np.int32), *sorted_rows])
    columns = []
    wide = any(part["end"].dtype.itemsize > 4 for _, part in stacked)
    for name, dtype in _JOINED.items():
        out, at = np.empty(len(row), np.int64 if name == "end" and wide else dtype), 0
        for (_, part), order in zip(stacked, orders, strict=True):
            out[at : at + len(order)] = part.pop(name)[order]
            at += len(order)
        columns.append(out)
    begin, dur, look, item, names = columns
    return boxes(row, rows, begin, dur, look, item, names)


_JOINED = {"begin": np.int64, "end": np.uint32, "look": np.uint8, "item": np.int32}
_JOINED |= {"name": np.uint16}


def _of(columns: Columns, table: str, name: str, rows: Int64s | None) -> Any:
    """Return the column `name` of `table` at `rows`; None stands for all rows."""
    whole = columns.once(table, name)
    return whole if rows is None else whole[rows]


def _once(columns: Columns) -> Int64s | None:
    """Return the rows of calls to show, or None if all are shown.

    A call that belongs to several packets has several rows; only one of them is shown.
    """
    found, ordinals = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for first, (flags, skb, ordinal) in columns.pieces("call", "flags", "skb", "ordinal"):
        mine = np.flatnonzero((flags.astype(np.uint8) & np.uint8(SOCK) != 0) & (skb == 0))
        found.append(first + mine)
        ordinals.append(ordinal[mine].astype(np.int64))
    by_socket, record = np.concatenate(found), np.concatenate(ordinals)
    record += _sources(columns, by_socket) * (int(record.max(initial=0)) + 1)
    _, firsts = np.unique(record, return_index=True)
    if len(firsts) == len(by_socket):
        return None
    keep = np.ones(columns.length("call"), np.bool_)
    keep[np.delete(by_socket, firsts)] = False
    return np.flatnonzero(keep)


def _sources(columns: Columns, rows: Int64s | None) -> npt.NDArray[np.int64] | int:
    """Return the KBL of each call in `rows`; a single number if there is only one KBL."""
    of_leg = columns.array("leg", "source")
    if not len(of_leg) or of_leg.min() == of_leg.max():
        return int(of_leg[0]) if len(of_leg) else 0
    of = of_leg[_of(columns, "call", "leg", rows) - 1]
    return np.asarray(of, np.int64)


def _each(source: npt.NDArray[np.int64] | int, count: int) -> list[tuple[int, Int64s | slice]]:
    """Return (source, indices of its calls) for each KBL; `source` is the KBL of each call."""
    if isinstance(source, int):
        return [(source, slice(0, count))]
    return [(int(one), np.flatnonzero(source == one)) for one in np.unique(source)]


def _times(
    columns: Columns,
    clock: Clock,
    rows: Int64s | None,
    source: npt.NDArray[np.int64] | int,
    t0_ns: int,
) -> Int64s:
    entry = _of(columns, "call", "entry_ns", rows)
    if isinstance(source, int):
        return clock.to_session(source, entry.astype(np.int64)) - t0_ns
    begin = np.empty(len(entry), np.int64)
    for one, mine in _each(source, len(entry)):
        begin[mine] = clock.to_session(one, entry[mine].astype(np.int64)) - t0_ns
    return begin


def _names(
    columns: Columns,
    rows: Int64s | None,
    source: npt.NDArray[np.int64] | int,
    functions: Functions,
) -> npt.NDArray[np.uint16]:
    func = _of(columns, "call", "func", rows)
    name = np.empty(len(func), np.uint16)
    for one, mine in _each(source, len(func)):
        name[mine] = functions.numbers(one, func[mine])
    return name


def _lanes(
    kind: str,
    columns: Columns,
    rows: Int64s | None,
    source: npt.NDArray[np.int64] | int,
    look: npt.NDArray[np.uint8],
) -> tuple[npt.NDArray[np.integer], list[LaneKey]]:
    """Return the lane of each call, and the content of each lane."""
    cpu = _of(columns, "call", "cpu", rows).astype(np.int64)
    split = cpu + 1  # calls with equal keys that do not nest: layers and the idle task, by CPU
    if kind == "cpu":
        key, split = cpu, np.zeros(1, np.int64)
    elif kind == "layer":
        key = (look & LAYER).astype(np.int64)
    else:
        key = _of(columns, "call", "pid", rows).astype(np.int64)
        split = np.where(key == 0, split, 0)
    keys, number = ranks(key)
    splits = int(split.max(initial=0)) + 1
    sources = 1 if isinstance(source, int) else int(source.max(initial=0)) + 1
    found, lane = ranks((number * splits + split) * sources + (source if sources > 1 else 0))
    of = found % sources if sources > 1 else np.full(len(found), source)
    place = found // sources
    columns_of = (keys[place // splits], place % splits - 1, of)
    keyed = [LaneKey(*map(int, one)) for one in zip(*columns_of, strict=True)]
    if kind == "process":  # busiest first
        busiest = np.argsort(-np.bincount(lane, minlength=len(keyed)), kind="stable")
        place = np.empty(len(keyed), np.int64)
        place[busiest] = np.arange(len(keyed))
        lane, keyed = place[lane], [keyed[at] for at in busiest.tolist()]
    return lane.astype(np.uint16) if len(keyed) < 1 << 16 else lane, keyed

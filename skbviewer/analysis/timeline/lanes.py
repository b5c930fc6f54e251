# SPDX-License-Identifier: MIT
"""The calls of a session, or of some packets, in lanes by CPU, layer, process or packet.

Input: column chunks, the time base, and the names of functions in each KBL.  Output: a Timeline;
its times are in ns of session time since `t0_ns`.  A lane consists of rows; an inner call is in a
lower row than the calls around it.  Each capture has a lane with the capture times of its packets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.scratch_memory import Scratch
from ...records.types import Int64s
from .function_numbers import layer_names
from .group_order import group_order, narrow_type
from .pixel_bins import BIN_DTYPE, Boxes, bins, boxes
from .row_stacking import MOST_ROWS, nothing_stacked, stack

PACKET, ALIGNED = "packet", "aligned"
PACKET_KINDS = (PACKET, ALIGNED)  # a lane for each packet: in session time, or each from 0 on
KINDS = ("cpu", *PACKET_KINDS, "layer", "process")
WIRE = 30  # layer number of wire times
WIRE_LAYER = "wire"
LONG_ROW = 1 << 20  # boxes; their pages are dropped after a longer row was read


class Lane(NamedTuple):
    """A lane of `rows` rows, which begin with the row `first` of the timeline."""

    title: str
    first: int
    rows: int
    what: str  # "calls", "wire" or "events": the table to which the boxes' items refer
    key: int  # CPU, layer's number, thread id or packet number (-n = K<n>); for wire times: source
    source: int  # KBL or capture, 0 = several
    error_ns: int = 0  # possible error of the wire times


class Wire(NamedTuple):
    """When the packet of a lane was captured (ns since t0_ns), and the time's possible error."""

    lane: int
    packet: int
    at: int
    error_ns: int


class LaneWait(NamedTuple):
    """A wait of a lane's packet from `begin` to `end` (ns since t0_ns); `what` is its kind."""

    lane: int
    begin: int
    end: int
    what: str


@dataclass(frozen=True)
class Timeline:
    """Lanes of boxes; boxes have indices of `layers` and of `names`.

    The boxes are stored in `scratch`; those of a large recording are in files.
    """

    kind: str
    t0_ns: int
    span_ns: int
    lanes: tuple[Lane, ...]
    boxes: Boxes
    layers: tuple[str, ...]
    names: tuple[str, ...] = ("",)  # of functions; 0 = no function
    wires: tuple[Wire, ...] = ()
    waits: tuple[LaneWait, ...] = ()
    scratch: Scratch = field(default_factory=Scratch)

    @property
    def is_relative(self) -> bool:
        """Return whether the times of each lane count from its first entry; t0_ns is then 0."""
        return self.kind == ALIGNED

    @property
    def rows(self) -> int:
        """Return the number of rows of all lanes together."""
        return sum(lane.rows for lane in self.lanes)

    def bins(
        self, begin_ns: int, end_ns: int, width: int, rows: range | None = None
    ) -> npt.NDArray[np.void]:
        """Return what to draw between `begin_ns` and `end_ns` (ns since t0_ns) on `width` pixels.

        `rows` are the visible rows; None means all rows.  The result is an array of BIN_DTYPE.
        """
        chosen = range(self.rows) if rows is None else rows
        given = (self.boxes, begin_ns, end_ns, max(width, 1))
        if not self.scratch.in_files:
            return bins(*given, chosen)
        found = [np.zeros(0, BIN_DTYPE)]
        for row in chosen:
            found.append(bins(*given, range(row, row + 1)))
            if self.boxes.starts[row + 1] - self.boxes.starts[row] > LONG_ROW:
                self.scratch.forget()  # else a wide view has nearly all boxes in memory
        return np.concatenate(found)

    def lane_of(self, row: int) -> Lane:
        """Return the lane to which the row `row` belongs."""
        return next(lane for lane in self.lanes if lane.first <= row < lane.first + lane.rows)


class LaneKey(NamedTuple):
    """What a lane shows: `key` as in Lane; `cpu` is -1 if the lane shows all CPUs."""

    key: int
    cpu: int
    source: int


class Part(NamedTuple):
    """Boxes that are not yet stacked in rows, each with its lane; sorted by lane and begin."""

    lane: npt.NDArray[np.integer]
    begin: Int64s
    dur: npt.NDArray[np.integer]  # see pixel_bins.durations()
    look: npt.NDArray[np.uint8]
    item: npt.NDArray[np.integer]
    name: npt.NDArray[np.uint16]
    lower: npt.NDArray[np.bool_] | None = None  # put in rows below the other boxes of their lane


def align(
    part: Part, lanes: int, wires: Sequence[Wire], waits: Sequence[LaneWait] = ()
) -> tuple[Part, tuple[Wire, ...], tuple[LaneWait, ...], int]:
    """Shift each lane so that its first entry (or else its capture time) is at time 0.

    `lanes` is the number of lanes.  Returns the shifted boxes, capture times and waits, and the
    time (ns) at which the last box ends.
    """
    bounds = np.searchsorted(part.lane, np.arange(lanes + 1))
    first = {wire.lane: wire.at for wire in wires}
    for lane in np.flatnonzero(np.diff(bounds)).tolist():
        first[lane] = int(part.begin[bounds[lane]])
    shift = np.array([first.get(lane, 0) for lane in range(lanes)] or [0], np.int64)[part.lane]
    moved = part._replace(begin=part.begin - shift)
    aligned = tuple(wire._replace(at=wire.at - first[wire.lane]) for wire in wires)
    waited = tuple(
        wait._replace(begin=wait.begin - first[wait.lane], end=wait.end - first[wait.lane])
        for wait in waits
        if wait.lane in first
    )
    ends = [int((moved.begin + moved.dur).max(initial=0)), *(wire.at for wire in aligned)]
    return moved, aligned, waited, max(ends) + 1


def assemble(
    kind: str,
    bounds: tuple[int, int],
    parts: list[tuple[Part, list[Lane]]],
    names: tuple[str, ...],
    wires: tuple[Wire, ...] = (),
    waits: tuple[LaneWait, ...] = (),
    scratch: Scratch | None = None,
) -> Timeline:
    """Return a timeline of `kind`; its boxes are stacked in rows here.

    `bounds` are t0_ns and the end, in ns of session time.  `names` are the names of functions, by
    number.  The lanes in `parts` have titles, but no rows yet.  `parts` is empty afterwards, so
    that large columns are not in memory twice.  The boxes are stored in `scratch`.
    """
    lanes: list[Lane] = []
    stacked: list[tuple[npt.NDArray[np.integer], dict[str, Any]]] = []
    first, room = 0, scratch or Scratch()
    while parts:
        part, named = parts.pop(0)
        row, counts = _stacked(part, len(named), first, room)
        for lane, count in zip(named, counts, strict=True):
            lanes.append(lane._replace(first=first, rows=count))
            first += count
        stacked.append((row, part._asdict()))
        del part
    layer = layer_names()
    layer += ("",) * (WIRE - len(layer)) + (WIRE_LAYER,)
    span = bounds[1] - bounds[0]
    joined = _join(stacked, first, room)
    room.forget()
    return Timeline(kind, bounds[0], span, tuple(lanes), joined, layer, names, wires, waits, room)


def _stacked(
    part: Part, lanes: int, first: int, room: Scratch
) -> tuple[npt.NDArray[np.integer], list[int]]:
    """Return the row of each box, from `first` on, and each lane's number of rows (1 or more)."""
    bounds = np.searchsorted(part.lane, np.arange(lanes + 1))
    most = first + 2 * MOST_ROWS * lanes
    row: npt.NDArray[np.integer] = room.full(len(part.lane), narrow_type(most), 0)
    counts = []
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        used = _stack_lane(part, range(low, high), first, row, room)
        counts.append(max(used, 1))
        first += counts[-1]
    return row, counts


def _stack_lane(
    part: Part, lane: range, first: int, row: npt.NDArray[np.integer], room: Scratch
) -> int:
    """Write the rows of a lane's boxes, from `first` on, into `row`; return their number."""
    used = 0
    for is_lower in (False, True):
        reach, rows = nothing_stacked(), 0
        for begin in range(lane.start, lane.stop, BLOCK):
            mine = _group(part, slice(begin, min(begin + BLOCK, lane.stop)), is_lower)
            depth = stack(part.begin[mine], part.dur[mine], reach)
            row[mine] = depth.astype(row.dtype) + row.dtype.type(first + used)
            rows = max(rows, int(depth.max()) + 1 if len(depth) else 0)
            room.forget()
        used += rows
    return used


def _group(part: Part, boxes: slice, is_lower: bool) -> slice | Int64s:
    """Return the boxes of one group: the lower ones if `is_lower`, otherwise all others."""
    if part.lower is None:
        return slice(0, 0) if is_lower else boxes
    mine: Int64s = np.flatnonzero(part.lower[boxes] == is_lower) + boxes.start
    return mine


def _join(
    stacked: list[tuple[npt.NDArray[np.integer], dict[str, Any]]], rows: int, room: Scratch
) -> Boxes:
    """Return all boxes, sorted by row; `stacked` must be in order of rows, and is emptied."""
    orders, starts = [], np.zeros(rows + 1, np.int64)
    for row, _ in stacked:
        order, own = group_order(row, rows)
        orders.append(room.keep(order))
        starts += own
    total, wide = int(starts[-1]), any(part["dur"].dtype.itemsize > 4 for _, part in stacked)
    columns: list[npt.NDArray[Any]] = []
    for name, dtype in _JOINED.items():
        out, at = room.take(total, np.int64 if name == "dur" and wide else dtype), 0
        for (_, part), order in zip(stacked, orders, strict=True):
            values = part.pop(name)
            for begin in range(0, len(order), BLOCK):
                mine = order[begin : begin + BLOCK]
                out[at : at + len(mine)] = values[mine]
                at += len(mine)
                if begin % (4 * BLOCK) == 0:
                    room.forget()
        room.forget()
        columns.append(out)
    return boxes(starts, *columns)


BLOCK = 1 << 20  # boxes that are put in order together
_JOINED = {"begin": np.int64, "dur": np.uint32, "look": np.uint8, "item": np.int32}
_JOINED |= {"name": np.uint16}

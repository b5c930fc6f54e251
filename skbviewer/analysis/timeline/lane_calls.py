# SPDX-License-Identifier: MIT
"""The calls and packets of a whole session, as boxes that do not have their rows yet.

Input: column chunks, the time base, and the names of functions in each KBL.  Output: a Part of a
timeline.  Columns are read and converted in blocks of rows, because whole columns of 20 million
calls would need gigabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...records import UNTIMED, Progress
from ...records.scratch_memory import Scratch
from ...records.types import Int32s, Int64s
from .function_numbers import Functions
from .group_order import narrow_type, order_by
from .lanes import WIRE, LaneKey, Part
from .packet_session_times import Clock, Columns, packet_times
from .pixel_bins import DROP, LAYER, OPEN

if TYPE_CHECKING:
    from ...store import Columns as StoredColumns

SOCK = 0x80  # kbl.h KBL_FLAG_SOCK
SLEPT = 1 | 2  # marks of a call whose thread left the CPU during the call
BLOCK = 1 << 20  # rows that are converted together


def calls_by(
    kind: str,
    columns: Columns,
    clock: Clock,
    functions: Functions,
    t0_ns: int,
    progress: Progress,
    scratch: Scratch,
) -> tuple[Part, list[LaneKey]]:
    """Return all calls as boxes in lanes, and what each lane shows.

    `kind` is "cpu", "layer" or "process": what calls in the same lane have in common.  A call that
    has only a socket is shown once, although it belongs to several packets.  Times of boxes are in
    ns of session time, minus `t0_ns`.  The boxes are stored in `scratch`.
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
    name, look = scratch.keep(name), scratch.keep(look)  # not needed for a while
    scratch.forget()
    order = scratch.keep(order_by(lane, begin))
    progress.report("arranging calls", 2, 4)

    def ordered(values: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
        return _ordered(values, order, scratch)

    begin = ordered(begin)
    name, look, lane = ordered(name), ordered(look), ordered(lane)
    dur = ordered(_durations(_of(columns, "call", "dur_ns", rows)))
    item = order if rows is None else ordered(rows.astype(np.int32))
    if kind != "cpu":
        return Part(lane, begin, dur, look, item, name), keys
    slept = ordered((_of(columns, "call", "marks", rows) & SLEPT) != 0)
    return Part(lane, begin, dur, look, item, name, slept), keys


def use_stored_rows(item: npt.NDArray[np.integer], columns: StoredColumns) -> None:
    """Replace `item`, the rows of calls in `columns`, by the rows of these calls in the session."""
    for mine in _blocks(range(len(item))):
        item[mine] = columns.stored_rows("call", item[mine].astype(np.int64))


def _ordered(values: npt.NDArray[Any], order: Int32s, scratch: Scratch) -> npt.NDArray[Any]:
    """Return `values` in the order of the indices `order`; the result is stored in `scratch`."""
    found = scratch.take(len(order), values.dtype)
    for mine in _blocks(range(len(order))):
        found[mine] = values[order[mine]]
        scratch.forget()
    return found


def wires_of(
    columns: Columns,
    clock: Clock,
    captures: Sequence[tuple[int, int, int]],
    t0_ns: int,
    scratch: Scratch,
) -> Part:
    """Return the known capture times of all packets as boxes of length 0, stored in `scratch`.

    `captures` are (source, row of the first packet, number of packets).  Each capture gets one
    lane.  Times are in ns of session time, minus `t0_ns`.
    """
    total = sum(count for _, _, count in captures)
    begin, item = scratch.take(total, np.int64), scratch.take(total, np.int32)
    lane, size = scratch.take(total, np.uint16), 0
    ts = columns.once("packet", "ts")
    for number, (source, first, count) in enumerate(captures):
        room = begin[size:], item[size:]
        found = _wires(columns, clock, source, ts, range(first, first + count), room)
        lane[size : size + found] = number
        size += found
    begin, item, lane = begin[:size], item[:size], lane[:size]
    begin -= t0_ns
    scratch.forget()
    look, name = np.full(size, WIRE, np.uint8), np.zeros(size, np.uint16)
    return Part(lane, begin, np.zeros(size, np.uint32), look, item, name)


def _wires(
    columns: Columns,
    clock: Clock,
    source: int,
    ts: npt.NDArray[np.integer],
    rows: range,
    room: tuple[Int64s, Int32s],
) -> int:
    """Write the times of a capture's packets `rows`, and the rows, into `room`, sorted by time.

    The times are in ns of session time.  Returns how many of the packets have a time.
    """
    begin, item = room
    size = 0
    for mine in _blocks(rows):
        own = ts[mine].astype(np.int64)
        timed = np.flatnonzero(own != UNTIMED) + mine.start
        to = slice(size, size + len(timed))
        begin[to] = packet_times(columns, clock, source, timed, own[timed - mine.start])
        item[to], size = timed, size + len(timed)
    begin, item = begin[:size], item[:size]
    if np.any(begin[1:] < begin[:-1]):
        order = np.argsort(begin, kind="stable")
        begin[:], item[:] = begin[order], item[order]
    return size


def _blocks(rows: range) -> Iterator[slice]:
    for first in range(rows.start, rows.stop, BLOCK):
        yield slice(first, min(first + BLOCK, rows.stop))


def _durations(dur: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """Return durations (ns) in 32 bits if they all fit; unknown ones become 0."""
    dtype = np.uint32 if len(dur) and int(dur.max()) < 1 << 32 else np.int64
    found: npt.NDArray[np.integer] = np.empty(len(dur), dtype)
    for mine in _blocks(range(len(dur))):
        found[mine] = np.maximum(dur[mine], 0)
    return found


def _of(columns: Columns, table: str, name: str, rows: Int64s | None) -> Any:
    """Return the column `name` of `table` at `rows`; None means all rows."""
    whole = columns.once(table, name)
    return whole if rows is None else whole[rows]


def _once(columns: Columns) -> Int64s | None:
    """Return the rows of the calls to show; None if all rows are shown.

    A call that belongs to several packets has several rows, and only one of them is shown.
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
    """Return the source id of each call's KBL; a single number if there is only one KBL."""
    of_leg = columns.array("leg", "source")
    if not len(of_leg) or of_leg.min() == of_leg.max():
        return int(of_leg[0]) if len(of_leg) else 0
    of = of_leg[_of(columns, "call", "leg", rows) - 1]
    return np.asarray(of, np.int64)


def _each(source: npt.NDArray[np.int64] | int, count: int) -> list[tuple[int, Int64s | slice]]:
    """Return for each KBL its source id and the indices of its calls.

    `source` is the source id of each call's KBL.
    """
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
    begin = np.empty(len(entry), np.int64)
    for mine in _blocks(range(len(entry))):
        of = source if isinstance(source, int) else source[mine]
        for one, at in _each(of, mine.stop - mine.start):
            begin[mine][at] = clock.to_session(one, entry[mine][at].astype(np.int64)) - t0_ns
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
    """Return the lane of each call, and what each lane shows."""
    cpu = _of(columns, "call", "cpu", rows)
    if kind == "cpu":
        keys, number = _ranked(cpu)
    elif kind == "layer":
        keys, number = _ranked(look & LAYER)
    else:
        keys, number = _ranked(_of(columns, "call", "pid", rows))
    # Calls with equal keys that do not nest, of layers and of the idle task, are divided by CPU.
    idle = next(iter(np.flatnonzero(keys == 0).tolist()), -1)
    splits = 1 if kind == "cpu" else int(cpu.max(initial=-1)) + 2
    sources = 1 if isinstance(source, int) else int(source.max(initial=0)) + 1

    def code(mine: slice) -> Int64s:
        made = number[mine].astype(np.int64) * splits
        if kind == "layer":
            made += cpu[mine].astype(np.int64) + 1
        elif kind == "process":
            made += np.where(number[mine] == idle, cpu[mine].astype(np.int64) + 1, 0)
        return made * sources + (0 if isinstance(source, int) or sources < 2 else source[mine])

    found, lane = _numbered(code, len(cpu))
    of = found % sources if sources > 1 else np.full(len(found), source)
    place = found // sources
    columns_of = (keys[place // splits], place % splits - 1, of)
    keyed = [LaneKey(*map(int, one)) for one in zip(*columns_of, strict=True)]
    if kind == "process":  # busiest first
        busiest = np.argsort(-np.bincount(lane, minlength=len(keyed)), kind="stable")
        place = np.empty(len(keyed), np.int64)
        place[busiest] = np.arange(len(keyed))
        lane, keyed = place[lane], [keyed[at] for at in busiest.tolist()]
    return lane.astype(np.uint16, copy=False) if len(keyed) < 1 << 16 else lane, keyed


def _ranked(values: npt.NDArray[np.integer]) -> tuple[Int64s, npt.NDArray[np.integer]]:
    """Return the distinct values, rising, and for each value its index among them."""
    return _numbered(lambda mine: values[mine].astype(np.int64), len(values))


def _numbered(
    code: Callable[[slice], Int64s], count: int
) -> tuple[Int64s, npt.NDArray[np.integer]]:
    """Return the distinct codes of `count` rows, rising, and the index of each row's code.

    code(rows) returns the codes of a slice of rows; there must be few different codes.
    """
    blocks = list(_blocks(range(count)))
    found = [np.zeros(0, np.int64), *(np.unique(code(mine)) for mine in blocks)]
    distinct = np.unique(np.concatenate(found))
    number: npt.NDArray[np.integer] = np.empty(count, narrow_type(len(distinct)))
    for mine in blocks:
        number[mine] = np.searchsorted(distinct, code(mine))
    return distinct, number

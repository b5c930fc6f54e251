# SPDX-License-Identifier: MIT
"""Version 3 tells a thread and a footprint once: give them to all records they hold for.

In: one row a head slot, with the columns its own slot fills.  The thread holds along a CPU's stream
from one TASK to the next; the footprint of an skb from the time of one FOOTPRINT to the next, for
calls entered on that CPU.  Behind a hole in the file nothing holds until it is told again.
"""

from __future__ import annotations

import numpy as np

from ..records.order import time_order
from . import _kbl_layout as kbl
from .kbl_rows import Beside, Rows
from .kbl_slots import Heads
from .wire import Ints, Mask

KIND = kbl.KblKind
RADIX = 1 << 16  # so many values sort by counting


def fill_told(rows: Rows, heads: Heads, beside: Beside) -> None:
    """Fill the pid of CALLs and the footprints of all entries."""
    if not len(rows):
        return
    fresh = _begins_after_a_hole(heads)
    _fill_threads(rows, heads, fresh)
    barriers = _gaps(rows, beside) + _holes(heads, fresh)
    tells = rows.events(kbl.KblEvent.FOOTPRINT)
    asks = _asking(rows)
    if not len(tells) or not len(asks):
        return
    for cpu in np.unique(rows.cpu[tells]).tolist():
        mine = (tells[rows.cpu[tells] == cpu], asks[rows.cpu[asks] == cpu])
        times = sorted(at for own, at in barriers if own == cpu)
        _fill_footprints(rows, *mine, np.array(times, np.int64))


def _begins_after_a_hole(heads: Heads) -> Mask:
    """Chunks before which a chunk of their CPU is missing, and each CPU's first."""
    following: dict[int, int] = {}
    fresh = np.ones(len(heads.chunks), np.bool_)
    for number, chunk in enumerate(heads.chunks):
        fresh[number] = following.get(chunk.cpu) != chunk.seq
        following[chunk.cpu] = chunk.seq + 1
    return fresh


def _fill_threads(rows: Rows, heads: Heads, fresh: Mask) -> None:
    """Along each CPU's stream row numbers grow: the last TASK is the largest one so far."""
    told = np.zeros(len(rows), np.bool_)
    told[rows.events(kbl.KblEvent.TASK)] = True
    for _, chunks in heads.streams():
        last = -1  # the TASK that holds
        for chunk in chunks:
            begin, end = int(heads.first[chunk]), int(heads.first[chunk + 1])
            tasks = np.flatnonzero(told[begin:end])
            here = rows.pid[begin:end]
            spans = rows.kind[begin:end] == KIND.CALL
            known = rows.pid[last] if last >= 0 and not fresh[chunk] else -1
            length = np.diff(np.r_[0, tasks, end - begin])
            pid = np.repeat(np.r_[known, here[tasks]], length)
            here[spans] = pid[spans]
            if len(tasks):
                last = begin + int(tasks[-1])
            elif fresh[chunk]:
                last = -1


def _gaps(rows: Rows, beside: Beside) -> list[tuple[int, int]]:
    """(cpu, time) from which on footprints told before no longer hold: records were lost."""
    full = rows.flags[beside.lost] == kbl.KblLost.BUFFER
    cpus = rows.cpu[beside.lost[full]]
    return list(zip(cpus.tolist(), beside.begin[full].tolist(), strict=True))


def _holes(heads: Heads, fresh: Mask) -> list[tuple[int, int]]:
    """The same for missing chunks: just after the last record before them."""
    last: dict[int, int] = {}
    found = []
    for number, chunk in enumerate(heads.chunks):
        if fresh[number] and chunk.cpu in last:
            found.append((chunk.cpu, last[chunk.cpu] + 1))
        last[chunk.cpu] = chunk.last_ns
    return found


def _asking(rows: Rows) -> Ints:
    """Rows whose packet a footprint told before describes."""
    entries = (rows.kind == KIND.CALL) | (rows.kind == KIND.ENTRY)
    entries[rows.events(kbl.KblEvent.CARRY)] = True
    unread = (rows.flags & kbl.KBL_FLAG_EXT_LOST) != 0
    return np.flatnonzero(entries & ~unread & (rows.skb != 0) & (rows.footprint == 0))


def _fill_footprints(rows: Rows, tells: Ints, asks: Ints, barriers: Ints) -> None:
    """Give each entry of a CPU the footprint last told for its skb on it."""
    skbs, place = np.unique(rows.skb[tells], return_inverse=True)
    asked = rows.skb[asks]
    found = np.searchsorted(skbs, asked)
    known = skbs[np.minimum(found, len(skbs) - 1)] == asked
    item = np.concatenate([tells, asks[known]])  # at one time the footprint comes first
    place = np.concatenate([place, found[known]])
    order = time_order(rows.ts[item])
    item, place, told = item[order], place[order], order < len(tells)
    by_skb = np.argsort(place.astype(np.uint16 if len(skbs) < RADIX else np.int64), kind="stable")
    item, told, place = item[by_skb], told[by_skb], place[by_skb]
    last = np.maximum.accumulate(np.where(told, np.arange(len(item)), -1))
    source = np.maximum(last, 0)
    holds = ~told & (last >= 0) & (place[source] == place)
    if len(barriers):
        era = np.searchsorted(barriers, rows.ts[item], "right")
        holds &= era[source] == era
    rows.footprint[item[holds]] = rows.footprint[item[source[holds]]]

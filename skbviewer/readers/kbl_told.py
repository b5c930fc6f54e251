# SPDX-License-Identifier: MIT
"""Version 3 tells a thread and a footprint once: give them to all records they hold for.

In: one row a head slot, with the columns its own slots fill.  The thread holds along a CPU's stream
from one TASK to the next; the footprint of an skb from the time of one FOOTPRINT to the next, for
calls entered on that CPU.  Behind a hole in the file nothing holds until it is told again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records import FOOTPRINT, RECORD_DTYPE, Records
from . import _kbl_layout as kbl
from .kbl_slots import Heads
from .wire import Ints, Mask

END_OF_TIME = np.iinfo(np.int64).max


def fill_told(records: Records, heads: Heads, spans: Ints) -> None:
    """Fill pid and entry CPU of CALLs (rows `spans`) and the footprints of all entries."""
    if not len(records):
        return
    fresh = _begins_after_a_hole(heads)
    _fill_threads(records, heads, spans, fresh)
    barriers = _gaps(records) + _holes(heads, fresh)
    slots = heads.view(kbl.KBL_SPAN_SLOT, heads.rows[spans])
    records["cpu"][spans] = slots["entry_cpu"]  # from here on the row is the entry's
    _fill_footprints(records, spans, barriers)


def footprint_of(records: Records) -> npt.NDArray[np.void]:
    """The footprint columns as one opaque value, to copy them together; writes through."""
    assert RECORD_DTYPE.fields is not None
    begin = RECORD_DTYPE.fields[FOOTPRINT][1]
    size = RECORD_DTYPE.itemsize - begin
    part = np.dtype(
        {"names": ["all"], "formats": [f"V{size}"], "offsets": [begin], "itemsize": begin + size}
    )
    return records.view(part)["all"]


def _begins_after_a_hole(heads: Heads) -> Mask:
    """Chunks before which a chunk of their CPU is missing, and each CPU's first."""
    following: dict[int, int] = {}
    fresh = np.ones(len(heads.chunks), np.bool_)
    for number, chunk in enumerate(heads.chunks):
        fresh[number] = following.get(chunk.cpu) != chunk.seq
        following[chunk.cpu] = chunk.seq + 1
    return fresh


def _fill_threads(records: Records, heads: Heads, spans: Ints, fresh: Mask) -> None:
    stream = np.argsort(records["cpu"].astype(np.uint16), kind="stable")
    told = (records["kind"] == kbl.KblKind.EVENT) & (records["event"] == kbl.KblEvent.TASK)
    first = np.r_[True, heads.chunk[1:] != heads.chunk[:-1]]  # of its chunk
    unknown = first & fresh[heads.chunk]
    place = np.arange(len(records))
    last = np.maximum.accumulate(np.where(told[stream], place, -1))
    cut = np.maximum.accumulate(np.where(unknown[stream], place, -1))
    pid = np.where(last >= cut, records["pid"][stream[np.maximum(last, 0)]], -1)
    of = np.empty(len(records), np.int64)
    of[stream] = pid
    records["pid"][spans] = of[spans]


def _gaps(records: Records) -> list[tuple[int, int]]:
    """(cpu, time) from which on footprints told before no longer hold: records were lost."""
    lost = records[(records["kind"] == kbl.KblKind.LOST)]
    lost = lost[lost["flags"] == kbl.KblLost.BUFFER]
    begins = lost["ts"] - lost["dur"]
    return list(zip(lost["cpu"].tolist(), begins.tolist(), strict=True))


def _holes(heads: Heads, fresh: Mask) -> list[tuple[int, int]]:
    """The same for missing chunks: just after the last record before them."""
    last: dict[int, int] = {}
    found = []
    for number, chunk in enumerate(heads.chunks):
        if fresh[number] and chunk.cpu in last:
            found.append((chunk.cpu, last[chunk.cpu] + 1))
        last[chunk.cpu] = chunk.last_ns
    return found


def _fill_footprints(records: Records, spans: Ints, barriers: list[tuple[int, int]]) -> None:
    """Copy to each entry the footprint last told for its skb on its CPU."""
    kind = records["kind"]
    tells = np.flatnonzero(
        (kind == kbl.KblKind.EVENT) & (records["event"] == kbl.KblEvent.FOOTPRINT)
    )
    carries = (kind == kbl.KblKind.EVENT) & (records["event"] == kbl.KblEvent.CARRY)
    asks = np.concatenate([spans, np.flatnonzero((kind == kbl.KblKind.ENTRY) | carries)])
    unread = (records["flags"][asks] & kbl.KBL_FLAG_EXT_LOST) != 0
    asks = asks[(records["skb"][asks] != 0) & ~unread & (records["skb_len"][asks] < 0)]
    if not len(tells) or not len(asks):
        return
    item = np.concatenate([tells, asks])  # at one time the footprint comes first
    is_tell = np.arange(len(item)) < len(tells)
    ts, cpu = records["ts"][item], records["cpu"][item]
    _, skb = np.unique(records["skb"][item], return_inverse=True)
    place = skb.reshape(-1).astype(np.int64) * (int(cpu.max()) + 1) + cpu
    order = np.lexsort((ts, place))
    place, told = place[order], is_tell[order]
    last = np.maximum.accumulate(np.where(told, np.arange(len(item)), -1))
    source = np.maximum(last, 0)
    era = _eras(cpu, ts, barriers)[order]
    holds = ~told & (last >= 0) & (place[source] == place) & (era[source] == era)
    footprint = footprint_of(records)
    footprint[item[order[holds]]] = footprint[item[order[source[holds]]]]


def _eras(cpu: npt.NDArray[np.int32], ts: Ints, barriers: list[tuple[int, int]]) -> Ints:
    """How many barriers of its CPU each time has behind it."""
    era = np.zeros(len(ts), np.int64)
    for number in {number for number, _ in barriers}:
        times = np.array(sorted(at for own, at in barriers if own == number), np.int64)
        here = np.flatnonzero(cpu == number)
        era[here] = np.searchsorted(times, ts[here], "right")
    return era

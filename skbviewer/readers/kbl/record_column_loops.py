# SPDX-License-Identifier: MIT
"""Decode slots into the columns of records: loops of record_columns.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import kbl_layout as kbl
from ...records.compiled import Int, allocation_free
from ...records.types import Int64s
from .footprint_slot_loops import (
    IPV4,
    IPV6,
    IPV6_L4,
    SK,
    SKB,
    UNKNOWN,
    fill_ipv4,
    fill_ipv6,
    fill_ipv6_l4,
    fill_skb,
)
from .footprint_slots import Planes
from .record_order_loops import Places
from .slot_blocks import EXT, Slots
from .slot_scan_loops import (
    ASIDE,
    CALL,
    ENTRY,
    EVENT,
    EXIT,
    EXT_CALL,
    EXT_COUNTER,
    FLAG_SOCK,
    LOSSES,
    LOST,
    PRINTS,
    ROWS,
)

FORGET_BLOCKS = 32  # number of blocks after which their records' pages are returned to the system
LONG = 0xFFFFFFFF  # dur of a CALL whose duration is in an EXT slot
TASK = int(kbl.KblEvent.TASK)
UNKNOWN_TYPE = 62  # the bit that all EXT slots of later types share
FOOTPRINTS, RETURNS = (1 << IPV4) | (1 << IPV6) | (1 << IPV6_L4) | (1 << SKB), 1 << EXT_CALL
OTHERS = ~(FOOTPRINTS | RETURNS)
NO_CALLER, MODULE_CALLER = kbl.KBL_FLAG_NO_CALLER, kbl.KBL_FLAG_MODULE_CALLER


class Rows(NamedTuple):
    """Columns of records.  `footprint` is a row number in the table of footprints; 0 means none.

    `cpu` is the CPU on which a call was entered; `exit_cpu` is the CPU in whose stream the record
    is.
    """

    ts: npt.NDArray[np.int64]
    ordinal: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    event: npt.NDArray[np.uint8]
    flags: npt.NDArray[np.uint8]
    context: npt.NDArray[np.uint8]
    cpu: npt.NDArray[np.uint16]
    func: npt.NDArray[np.int32]
    pid: npt.NDArray[np.int32]
    skb: npt.NDArray[np.int64]
    caller: npt.NDArray[np.int64]
    data: npt.NDArray[np.int64]
    exit_ts: npt.NDArray[np.int64]
    exit_cpu: npt.NDArray[np.int32]
    ret: npt.NDArray[np.int64]
    footprint: npt.NDArray[np.int32]


class Aside(NamedTuple):
    """Rare details of records that no column holds, in file order."""

    ordinal: npt.NDArray[np.int32]  # of the records that these EXT slots belong to
    slots: Slots  # of dtype SLOT
    lost: Int64s  # rows of LOST records
    begin: Int64s  # when their gaps began


@allocation_free
def decode(
    slots: Slots,
    begin: Int64s,
    cpus: Int64s,
    fresh: npt.NDArray[np.bool_],
    version: int,
    stext: int,
    symbols: Int64s,
    place: Places,
    pids: Int64s,
    at: Int64s,
    rows: Rows,
    aside: Aside,
    planes: Planes,
    most: int,
    values: Int64s,
) -> bool:
    """Decode a block of slots into `rows`, `aside` and `planes`; return whether it fitted.

    By chunk of the block: `begin` is its first slot, `cpus` its CPU, and `fresh` is True if it
    follows a missing chunk.  `version`, `stext` and `symbols` are explained in LogFacts.  By head
    slot: `place` is the row of its record.  By CPU: `pids` is the thread that runs there.  `at`
    counts the rows that are filled so far.  There is memory for `most` footprints; each one is
    built in the scratch array `values`.  The result is False if the block has more records or
    footprints than the scan found.
    """
    row, shown, kept, lost = at[ROWS], at[PRINTS], at[ASIDE], at[LOSSES]
    # Taking an array out of a tuple inside the loop costs an atomic operation.
    to_ts, to_ordinal, to_kind, to_event = rows.ts, rows.ordinal, rows.kind, rows.event
    to_flags, to_context, to_cpu, to_func = rows.flags, rows.context, rows.cpu, rows.func
    to_pid, to_skb, to_caller, to_data = rows.pid, rows.skb, rows.caller, rows.data
    to_exit_ts, to_exit_cpu, to_ret = rows.exit_ts, rows.exit_cpu, rows.ret
    to_footprint = rows.footprint
    owner, other, gap, gap_begin = aside.ordinal, aside.slots, aside.lost, aside.begin
    which, where, shift = planes.which, planes.where, planes.shift
    one, two, four, eight = planes.one, planes.two, planes.four, planes.eight
    for chunk in range(len(cpus)):
        cpu, end = cpus[chunk], begin[chunk + 1]
        if fresh[chunk]:
            pids[cpu] = -1
        i = begin[chunk]
        while i < end and slots[i]["call_kind"] == EXT:
            i += 1
        while i < end:
            slot = slots[i]
            limit = i + 1 + np.int64(slot["call_ext"])
            last, seen = i + 1, np.int64(0)  # the slot after its EXT slots, and their types
            while last < end and slots[last]["call_kind"] == EXT:
                if last < limit:
                    seen |= _bit(np.int64(slots[last]["ipv4_type"]))
                last += 1
            limit = min(limit, last)
            if row >= len(place):
                return False
            kind, flags, p = slot["call_kind"], slot["call_flags"], np.int64(place[row])
            is_span = kind == CALL and version > 2
            given, number = False, np.int64(0)
            if p >= 0:
                ts, skb = np.int64(slot["call_ts"]), np.int64(slot["call_skb"])
                event, on, func, pid = np.uint8(0), cpu, np.int64(-1), np.int64(-1)
                data, caller, ret = np.int64(-1), np.int64(0), np.int64(0)
                sock, left = np.int64(0), np.int64(-1)
                if is_span:
                    kind, on = np.uint8(ENTRY), np.int64(slot["span_entry_cpu"])
                    func, pid = np.int64(slot["span_func"]), pids[cpu]
                    if slot["span_dur"] != LONG:
                        left = ts + np.int64(slot["span_dur"])
                elif kind == EVENT:
                    event, flags = flags, np.uint8(0)
                    pid, data = np.int64(np.int32(slot["event_pid"])), np.int64(slot["event_data"])
                    if event == TASK:
                        pids[cpu] = pid
                elif kind == LOST:
                    func, data = np.int64(slot["lost_func"]), np.int64(slot["lost_count"])
                    skb = np.int64(0)
                    if lost >= len(gap):
                        return False
                    gap[lost], gap_begin[lost] = p, np.int64(slot["lost_first_ns"])
                    lost += 1
                else:
                    func, pid = np.int64(slot["call_func"]), np.int64(slot["call_pid"])
                    if kind == EXIT:
                        data = np.int64(slot["call_caller"])
                if kind == ENTRY:
                    caller = _caller(flags, np.int64(slot["call_caller"]), stext, symbols)
                if kind in (ENTRY, EXIT):
                    given = (flags & FLAG_SOCK) != 0
                    if given:
                        sock, skb = skb, np.int64(0)
                if is_span and seen & RETURNS:
                    for j in range(limit - 1, i, -1):
                        if slots[j]["ret_type"] == EXT_CALL:
                            ret = np.int64(slots[j]["ret_ret"])
                            if slot["span_dur"] == LONG or left < 0:
                                left = ts + np.int64(slots[j]["ret_dur"])
                if given or seen & FOOTPRINTS:
                    if shown >= most:
                        return False
                    number = shown
                    for c in range(len(values)):
                        values[c] = UNKNOWN[c]
                    values[SK] = sock if given else UNKNOWN[SK]
                    _fill(slots, i + 1, limit, seen, values)
                    for k in range(len(which)):
                        value, to = values[which[k]], where[k] + shown
                        if shift[k] == 0:
                            one[to] = value
                        elif shift[k] == 1:
                            two[to] = value
                        elif shift[k] == 2:
                            four[to] = value
                        else:
                            eight[to] = value
                to_ts[p], to_ordinal[p], to_context[p] = ts, row, slot["call_context"]
                to_kind[p], to_event[p], to_flags[p] = kind, event, flags
                to_cpu[p], to_func[p], to_pid[p] = on, func, pid
                to_data[p], to_caller[p], to_skb[p] = data, caller, skb
                to_exit_ts[p], to_exit_cpu[p] = left, cpu if left >= 0 else np.int64(-1)
                to_ret[p], to_footprint[p] = ret, number
            shown += number > 0
            if seen & OTHERS:
                for j in range(i + 1, limit):
                    type_ = np.int64(slots[j]["ipv4_type"])
                    if _bit(type_) & OTHERS and (type_ != EXT_COUNTER or is_span):
                        if kept >= len(owner):
                            return False
                        owner[kept], other[kept] = row, slots[j]
                        kept += 1
            row += 1
            i = last
    at[ROWS], at[PRINTS], at[ASIDE], at[LOSSES] = row, shown, kept, lost
    return True


@allocation_free
def _bit(type_: Int) -> np.int64:
    """Return the bit of an EXT slot type; all unknown types share one bit."""
    return np.int64(1) << np.int64(min(type_, np.int64(UNKNOWN_TYPE)))


@allocation_free
def _caller(flags: Int, caller: Int, stext: Int, symbols: Int64s) -> np.int64:
    """Return the absolute return address of a call; 0 if it is unknown."""
    if flags & NO_CALLER:
        return np.int64(0)
    if flags & MODULE_CALLER:
        return symbols[caller] if 0 <= caller < len(symbols) else np.int64(0)
    return np.int64(stext + caller)


@allocation_free
def _fill(slots: Slots, begin: Int, end: Int, seen: Int, values: Int64s) -> None:
    """Build a footprint from EXT slots; if there are several of one type, the first one is used."""
    if seen & (1 << IPV4):
        for j in range(end - 1, begin - 1, -1):
            if slots[j]["ipv4_type"] == IPV4:
                fill_ipv4(slots[j], values)
    if seen & (1 << IPV6):
        for j in range(end - 1, begin - 1, -1):
            if slots[j]["ipv4_type"] == IPV6:
                fill_ipv6(slots[j], values)
    if seen & (1 << IPV6_L4):
        for j in range(end - 1, begin - 1, -1):
            if slots[j]["ipv4_type"] == IPV6_L4:
                fill_ipv6_l4(slots[j], values)
    if seen & (1 << SKB):
        for j in range(end - 1, begin - 1, -1):
            if slots[j]["ipv4_type"] == SKB:
                fill_skb(slots[j], values)

# SPDX-License-Identifier: MIT
"""From the slots of a .kbl file to RECORD_DTYPE rows in time order.

First one row a head slot, then, for version 3, what the stream tells but once (threads, footprints)
goes to every row it holds for, and each CALL becomes an ENTRY and an EXIT.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..records import RECORD_DTYPE, Details, Records, empty, pick
from . import _kbl_layout as kbl
from .kbl_calls import expand
from .kbl_chunks import Chunk
from .kbl_details import read_details
from .kbl_footprints import fill_footprints
from .kbl_slots import CONTEXT, KIND, Heads, Slots, complain, find_heads
from .kbl_told import fill_told
from .wire import Bytes, Ints


class Decoded(NamedTuple):
    """`records` in time order; `task_times` and `comms` are parallel."""

    records: Records
    task_times: Ints
    comms: Slots  # KBL_EXT_COMM
    details: Details
    complaints: list[str]


def decode_records(
    data: Bytes, chunks: list[Chunk], order: str, version: int, stext: int, symbols: Ints
) -> Decoded:
    """Decode the RECORDS chunks; `symbols` are the symbol table's addresses in file order."""
    heads, complaints = find_heads(data, chunks, order)
    records = empty(RECORD_DTYPE, len(heads.rows))
    cpus = np.array([chunk.cpu for chunk in chunks], np.int32)
    records["cpu"] = cpus[heads.chunk] if len(cpus) else 0
    records["ordinal"] = np.arange(len(records))
    records["kind"] = heads.slots[heads.rows, KIND]
    records["context"] = heads.slots[heads.rows, CONTEXT]
    for name in ("skb", "caller"):
        records[name] = 0
    _fill_calls(records, heads, stext, symbols)
    _fill_events(records, heads)
    _fill_lost(records, heads)
    fill_footprints(records, heads)
    owner, comms = heads.all_of_type(kbl.KblExtType.COMM, kbl.KBL_EXT_COMM)
    of_task = records["event"][owner] == kbl.KblEvent.TASK  # other events have names as well
    times, comms = records["ts"][owner[of_task]], comms[of_task]
    known = {int(kind) for kind in kbl.KblKind} - ({kbl.KblKind.CALL} if version == 2 else set())
    unknown = ~np.isin(records["kind"], sorted(known))
    complain(complaints, unknown, "records of an unknown kind: left out")
    details = read_details(heads, stext)
    if version == 2:
        whole = _in_time_order(pick(records, np.flatnonzero(~unknown)))
    else:
        spans = _fill_spans(records, heads, stext, symbols)
        fill_told(records, heads, spans)
        whole = expand(records, heads, spans, unknown, complaints)
    return Decoded(whole, times, comms, details, complaints)


def _in_time_order(records: Records) -> Records:
    """By (ts, cpu, order in the CPU's stream); the ordinal grows along each stream."""
    return pick(records, np.lexsort((records["ordinal"], records["cpu"], records["ts"])))


def _fill_calls(records: Records, heads: Heads, stext: int, symbols: Ints) -> None:
    kind = records["kind"]
    calls = np.flatnonzero((kind == kbl.KblKind.ENTRY) | (kind == kbl.KblKind.EXIT))
    slots = heads.view(kbl.KBL_CALL_SLOT, heads.rows[calls])
    for name in ("flags", "func", "pid"):
        records[name][calls] = slots[name]
    records["ts"][calls] = slots["ts"].astype(np.int64)
    _fill_carrier(records, calls, slots)
    exits = slots["kind"] == kbl.KblKind.EXIT
    records["data"][calls[exits]] = slots["caller"][exits]
    records["caller"][calls[~exits]] = _callers(slots[~exits], stext, symbols)


def _fill_carrier(records: Records, calls: Ints, slots: Slots) -> None:
    """The skb, or instead of it the sock."""
    address = slots["skb"].astype(np.int64)
    sock = (slots["flags"] & kbl.KBL_FLAG_SOCK) != 0
    records["skb"][calls] = np.where(sock, 0, address)
    records["sk"][calls[sock]] = address[sock]


def _fill_spans(records: Records, heads: Heads, stext: int, symbols: Ints) -> Ints:
    """Fill the rows of CALLs as entries; their record numbers."""
    calls = np.flatnonzero(records["kind"] == kbl.KblKind.CALL)
    slots = heads.view(kbl.KBL_SPAN_SLOT, heads.rows[calls])
    records["flags"][calls], records["func"][calls] = slots["flags"], slots["func"]
    records["ts"][calls] = slots["ts"].astype(np.int64)
    _fill_carrier(records, calls, slots)
    records["caller"][calls] = _callers(slots, stext, symbols)
    return np.asarray(calls, np.int64)


def _callers(slots: Slots, stext: int, symbols: Ints) -> Ints:
    """Absolute return addresses, as signed 64 bits; 0 where the file does not tell."""
    base = np.array([stext], np.uint64).astype(np.int64)
    caller, flags = slots["caller"].astype(np.int64), slots["flags"]
    in_module = (flags & kbl.KBL_FLAG_MODULE_CALLER) != 0
    listed = (caller >= 0) & (caller < len(symbols))
    table = (
        symbols[np.where(listed, caller, 0)] if len(symbols) else np.zeros(len(caller), np.int64)
    )
    address = np.where(in_module, np.where(listed, table, 0), base + caller)
    return np.where(flags & kbl.KBL_FLAG_NO_CALLER, 0, address)


def _fill_events(records: Records, heads: Heads) -> None:
    events = np.flatnonzero(records["kind"] == kbl.KblKind.EVENT)
    slots = heads.view(kbl.KBL_EVENT_SLOT, heads.rows[events])
    records["event"][events], records["pid"][events] = slots["event"], slots["pid"]
    for name in ("ts", "skb", "data"):
        records[name][events] = slots[name].astype(np.int64)


def _fill_lost(records: Records, heads: Heads) -> None:
    lost = np.flatnonzero(records["kind"] == kbl.KblKind.LOST)
    slots = heads.view(kbl.KBL_LOST_SLOT, heads.rows[lost])
    ts, first = slots["ts"].astype(np.int64), slots["first_ns"].astype(np.int64)
    records["ts"][lost], records["dur"][lost] = ts, ts - first
    records["data"][lost], records["flags"][lost] = slots["count"].astype(np.int64), slots["reason"]
    records["func"][lost] = slots["func"].astype(np.int32)  # 0xffffffff = none = -1

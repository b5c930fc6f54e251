# SPDX-License-Identifier: MIT
"""Turns version 3's whole calls into an ENTRY and an EXIT each, and puts all rows in time order.

In: one row a head slot, CALLs filled as entries.  A CARRY becomes a further pair of its call, for
the further packet.  Both rows of a pair have the head slot's ordinal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..records import RECORD_DTYPE, Records, empty, pick
from . import _kbl_layout as kbl
from .kbl_slots import Heads, complain
from .kbl_told import footprint_of
from .wire import Ints, Mask

KIND, EVENT, FLAG = kbl.KblKind, kbl.KblEvent, kbl
LONG = 0xFFFFFFFF  # dur of a CALL whose EXT has it


@dataclass(frozen=True)
class _Exits:
    """What the EXIT rows to be made say; `of` is the row whose exit it is."""

    of: Ints
    ts: Ints
    cpu: Ints
    skb: Ints
    ret: Ints
    counter: Ints


def expand(
    records: Records, heads: Heads, spans: Ints, unknown: Mask, complaints: list[str]
) -> Records:
    """All rows in time order; at one time entries, exits, then the rest as written."""
    exits = _exits(records, heads, spans)
    records["kind"][spans] = KIND.ENTRY
    exits = _carried(records, spans, exits, complaints)
    rank = np.full(len(records), 2, np.int8)
    rank[records["kind"] == KIND.ENTRY], rank[records["kind"] == KIND.EXIT] = 0, 1
    rank[unknown] = 3
    first, last = np.flatnonzero(rank == 0), np.flatnonzero(rank == 2)
    first = first[np.argsort(records["data"][first] >= 0, kind="stable")]  # a list's first packet
    leave = np.flatnonzero(rank == 1)
    source = np.concatenate([first, leave, exits.of, last])
    ts = np.concatenate([records["ts"][first], records["ts"][leave], exits.ts, records["ts"][last]])
    order = np.argsort(ts, kind="stable")
    rows = pick(records, source[order])
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    begin = len(first) + len(leave)
    _make_exits(rows, place[begin : begin + len(exits.of)], exits)
    return rows


def _exits(records: Records, heads: Heads, spans: Ints) -> _Exits:
    """The exits of CALLs."""
    slots = heads.view(kbl.KBL_SPAN_SLOT, heads.rows[spans])
    count = len(records)
    dur, ret = np.zeros(count, np.int64), np.zeros(count, np.int64)
    owner, ext = heads.of_type(kbl.KblExtType.CALL)
    further = heads.view(kbl.KBL_EXT_CALL, ext)
    dur[owner], ret[owner] = further["dur"].astype(np.int64), further["ret"]
    dur, ret = np.where(slots["dur"] == LONG, dur[spans], slots["dur"]), ret[spans]
    cpus = np.array([chunk.cpu for chunk in heads.chunks], np.int64)
    cpu = cpus[heads.chunk[spans]] if len(cpus) else np.zeros(0, np.int64)
    returned = (records["flags"][spans] & FLAG.KBL_FLAG_SKB_IS_RET) != 0
    skb = np.where(returned, ret, records["skb"][spans])
    counted = np.full(count, -1, np.int64)
    owner, ext = heads.of_type(kbl.KblExtType.COUNTER)
    counters = heads.view(kbl.KBL_EXT_COUNTER, ext)
    counted[owner] = np.where(counters["valid"] != 0, counters["count"].astype(np.int64), -1)
    return _Exits(spans, records["ts"][spans] + dur, cpu, skb, ret, counted[spans])


def _carried(records: Records, spans: Ints, exits: _Exits, complaints: list[str]) -> _Exits:
    """Make CARRY events entries of the call they name, and add their exits."""
    carry = np.flatnonzero((records["kind"] == KIND.EVENT) & (records["event"] == EVENT.CARRY))
    if not len(carry):
        return exits
    calls = np.flatnonzero(records["kind"] == KIND.ENTRY)
    call = _named(records, carry, calls)
    complain(complaints, call < 0, "CARRY events name no call: it was lost")
    carry, call = carry[call >= 0], call[call >= 0]
    for name in ("func", "caller", "context", "pid"):
        records[name][carry] = records[name][call]
    own = FLAG.KBL_FLAG_SKB_IS_RET | FLAG.KBL_FLAG_SOCK | FLAG.KBL_FLAG_NULL_SKB
    number = np.full(len(records), -1, np.int64)
    number[spans] = np.arange(len(spans))
    exit_ = number[call]
    ends = exit_ >= 0  # a call without an end is open, so are they
    open_ = np.where(ends, 0, FLAG.KBL_FLAG_OPEN)
    records["flags"][carry] = records["flags"][call] & ~np.uint8(own) | open_.astype(np.uint8)
    records["kind"][carry], records["event"][carry] = KIND.ENTRY, 0
    carry, exit_ = carry[ends], exit_[ends]
    further = _Exits(
        carry,
        exits.ts[exit_],
        exits.cpu[exit_],
        records["skb"][carry],
        exits.ret[exit_],
        np.full(len(carry), -1, np.int64),
    )
    parts = (vars(exits), vars(further))
    return _Exits(**{name: np.concatenate([part[name] for part in parts]) for name in vars(exits)})


def _named(records: Records, carry: Ints, calls: Ints) -> Ints:
    """For each CARRY the entry at its time on its CPU, -1 = none."""
    if not len(calls):
        return np.full(len(carry), -1, np.int64)
    cpus = int(records["cpu"].max()) + 1
    start = int(min(records["ts"][carry].min(), records["ts"][calls].min()))
    key = (records["ts"][calls] - start) * cpus + records["cpu"][calls]
    order = np.argsort(key)
    wanted = (records["ts"][carry] - start) * cpus + records["cpu"][carry]
    found = np.minimum(np.searchsorted(key[order], wanted), len(calls) - 1)
    call = calls[order[found]]
    return np.where(key[order[found]] == wanted, call, -1)


def _make_exits(rows: Records, place: Ints, exits: _Exits) -> None:
    """Turn the copies of entries at `place` into exits."""
    rows["kind"][place] = KIND.EXIT
    for column, values in (
        ("ts", exits.ts),
        ("cpu", exits.cpu),
        ("skb", exits.skb),
        ("data", exits.ret),
        ("counter", exits.counter),
        ("caller", 0),
    ):
        rows[column][place] = values
    sock = rows["sk"][place]
    given = (rows["flags"][place] & FLAG.KBL_FLAG_SOCK) != 0
    footprint_of(rows)[place] = footprint_of(empty(RECORD_DTYPE, 1))[0]
    rows["sk"][place[given]] = sock[given]

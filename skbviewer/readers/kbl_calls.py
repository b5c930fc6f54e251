# SPDX-License-Identifier: MIT
"""Makes an ENTRY and an EXIT of each of version 3's whole calls.

In: one row a head slot, CALLs filled as entries.  A CARRY becomes a further pair of its call, for
the further packet.  Both rows of a pair have the head slot's ordinal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from . import _kbl_layout as kbl
from .kbl_rows import Rows
from .kbl_slots import Heads, complain
from .wire import Ints, Mask

KIND, EVENT, FLAG = kbl.KblKind, kbl.KblEvent, kbl
LONG = 0xFFFFFFFF  # dur of a CALL whose EXT has it


class Exits(NamedTuple):
    """What the EXIT rows to be made say; `of` is the row whose exit it is."""

    of: Ints
    ts: Ints
    cpu: Ints
    skb: Ints
    ret: Ints


class Expanded(NamedTuple):
    """All rows: `source` is the row each comes from, `ts` its time.

    Those from `begin` on, as many as there are `exits`, are the exits of their source.
    """

    source: npt.NDArray[np.int32]
    ts: Ints
    begin: int
    exits: Exits


def expand(rows: Rows, heads: Heads, unknown: Mask, complaints: list[str]) -> Expanded:
    """All rows, in the order of those of one time: entries, exits, the rest as written."""
    spans = np.flatnonzero(rows.kind == KIND.CALL)
    exits = _exits(rows, heads, spans)
    rows.kind[spans] = KIND.ENTRY
    exits = _carried(rows, spans, exits, complaints)
    first = np.flatnonzero(rows.kind == KIND.ENTRY)
    further = rows.data[first] >= 0
    first = np.concatenate([first[~further], first[further]])  # a list's first packet first
    leave = np.flatnonzero(rows.kind == KIND.EXIT)
    rest = np.flatnonzero((rows.kind != KIND.ENTRY) & (rows.kind != KIND.EXIT) & ~unknown)
    ts = np.concatenate([rows.ts[first], rows.ts[leave], exits.ts, rows.ts[rest]])
    source = np.concatenate([first, leave, exits.of, rest], dtype=np.int32, casting="same_kind")
    return Expanded(source, ts, len(first) + len(leave), exits)


def _exits(rows: Rows, heads: Heads, spans: Ints) -> Exits:
    """The exits of CALLs."""
    dur, ret = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    owner, further = heads.of_type(kbl.KblExtType.CALL, kbl.KBL_EXT_CALL)
    dur[owner], ret[owner] = further["dur"].astype(np.int64), further["ret"]
    told = heads.view(kbl.KBL_SPAN_SLOT)["dur"][spans].astype(np.int64)
    long = np.flatnonzero(told == LONG)
    told[long] = dur[spans[long]]
    ret = ret[spans]
    cpu = heads.per_record(heads.cpus())[spans]
    returned = (rows.flags[spans] & FLAG.KBL_FLAG_SKB_IS_RET) != 0
    skb = np.where(returned, ret, rows.skb[spans])
    return Exits(spans, rows.ts[spans] + told, cpu, skb, ret)


def _carried(rows: Rows, spans: Ints, exits: Exits, complaints: list[str]) -> Exits:
    """Make CARRY events entries of the call they name, and add their exits."""
    carry = rows.events(EVENT.CARRY)
    if not len(carry):
        return exits
    calls = np.flatnonzero(rows.kind == KIND.ENTRY)
    call = _named(rows, carry, calls)
    complain(complaints, call < 0, "CARRY events name no call: it was lost")
    carry, call = carry[call >= 0], call[call >= 0]
    for name in ("func", "caller", "context", "pid"):
        column = getattr(rows, name)
        column[carry] = column[call]
    own = FLAG.KBL_FLAG_SKB_IS_RET | FLAG.KBL_FLAG_SOCK | FLAG.KBL_FLAG_NULL_SKB
    number = np.full(len(rows), -1, np.int64)
    number[spans] = np.arange(len(spans))
    exit_ = number[call]
    ends = exit_ >= 0  # a call without an end is open, so are they
    open_ = np.where(ends, 0, FLAG.KBL_FLAG_OPEN)
    rows.flags[carry] = rows.flags[call] & ~np.uint8(own) | open_.astype(np.uint8)
    rows.kind[carry], rows.event[carry] = KIND.ENTRY, 0
    carry, exit_ = carry[ends], exit_[ends]
    skb = rows.skb[carry]
    further = Exits(carry, exits.ts[exit_], exits.cpu[exit_], skb, exits.ret[exit_])
    return Exits(*(np.concatenate(pair) for pair in zip(exits, further, strict=True)))


def _named(rows: Rows, carry: Ints, calls: Ints) -> Ints:
    """For each CARRY the entry at its time on its CPU, -1 = none."""
    if not len(calls):
        return np.full(len(carry), -1, np.int64)
    cpus = int(rows.cpu.max()) + 1
    start = int(min(rows.ts[carry].min(), rows.ts[calls].min()))
    key = (rows.ts[calls] - start) * cpus + rows.cpu[calls]
    order = np.argsort(key)
    wanted = (rows.ts[carry] - start) * cpus + rows.cpu[carry]
    found = np.minimum(np.searchsorted(key[order], wanted), len(calls) - 1)
    call = calls[order[found]]
    return np.where(key[order[found]] == wanted, call, -1)

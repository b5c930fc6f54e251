# SPDX-License-Identifier: MIT
"""From the slots of a .kbl file to RECORD_DTYPE columns.

A record is a head slot and the EXT slots that follow it in the same chunk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import RECORD_DTYPE, Records, empty
from . import _kbl_layout as kbl
from .kbl_chunks import Chunk
from .wire import Bytes, Ints, Mask

KIND, FLAGS, CONTEXT, EXT_COUNT = range(4)  # byte positions that all head slots share
EXT_TYPE = 1
TCP, ICMP, ICMPV6 = 6, 1, 58
Slots = npt.NDArray[np.void]


class Decoded(NamedTuple):
    """`records` in file order; `task_times` and `comms` are parallel."""

    records: Records
    task_times: Ints
    comms: Slots  # KBL_EXT_COMM
    complaints: list[str]


class _Heads(NamedTuple):
    slots: Bytes  # (n, 32), of the whole file
    order: str
    rows: Ints  # slot number of each record's head
    owner: Ints  # of each EXT slot that has one: its record
    ext: Ints  # slot number of that EXT slot

    def view(self, dtype: np.dtype[np.void], slots: Ints) -> Slots:
        """The given slots as structs of `dtype`."""
        return self.slots[slots].view(kbl.in_order(dtype, self.order))[:, 0]

    def of_type(self, type_: int) -> tuple[Ints, Ints]:
        """Records and EXT slots of a type, a record's first one last, so that it wins."""
        mask = self.slots[self.ext, EXT_TYPE] == type_
        return self.owner[mask][::-1], self.ext[mask][::-1]


def decode_records(
    data: Bytes, chunks: list[Chunk], order: str, stext: int, symbols: Ints
) -> Decoded:
    """Decode the RECORDS chunks; `symbols` are the symbol table's addresses in file order."""
    sizes = [(chunk.end - chunk.begin) // kbl.KBL_SLOT_SIZE for chunk in chunks]
    parts = [
        data[chunk.begin : chunk.begin + size * kbl.KBL_SLOT_SIZE]
        for chunk, size in zip(chunks, sizes, strict=True)
    ]
    slots = np.concatenate([np.empty(0, np.uint8), *parts]).reshape(-1, kbl.KBL_SLOT_SIZE)
    chunk_of = np.repeat(np.arange(len(chunks)), sizes)
    heads, complaints = _heads(slots, order, chunk_of)
    records = empty(RECORD_DTYPE, len(heads.rows))
    cpus = np.array([chunk.cpu for chunk in chunks], np.int32)
    records["cpu"] = cpus[chunk_of[heads.rows]] if len(cpus) else 0
    records["ordinal"] = np.arange(len(records))
    records["kind"] = slots[heads.rows, KIND]
    records["context"] = slots[heads.rows, CONTEXT]
    for name in ("skb", "caller"):
        records[name] = 0
    _fill_calls(records, heads, stext, symbols)
    _fill_events(records, heads)
    _fill_lost(records, heads)
    _fill_ext(records, heads)
    unknown = ~np.isin(records["kind"], [int(kind) for kind in kbl.KblKind])
    _complain(complaints, unknown, "records of an unknown kind: left out")
    _complain(complaints, _miscounted(chunks, parts, heads, chunk_of), "chunks whose number of "
              "records differs from their header's")  # fmt: skip
    owner, ext = heads.of_type(kbl.KblExtType.COMM)
    return Decoded(
        records[~unknown] if unknown.any() else records,
        records["ts"][owner],
        heads.view(kbl.KBL_EXT_COMM, ext),
        complaints,
    )


def _complain(complaints: list[str], mask: Mask, what: str) -> None:
    if mask.any():
        complaints.append(f"{np.count_nonzero(mask)} {what}")


def _miscounted(chunks: list[Chunk], parts: list[Bytes], heads: _Heads, chunk_of: Ints) -> Mask:
    counted = np.bincount(chunk_of[heads.rows], minlength=len(chunks))
    claimed = np.array([chunk.items for chunk in chunks], np.int64)
    ragged = [
        len(part) != chunk.end - chunk.begin for chunk, part in zip(chunks, parts, strict=True)
    ]
    wrong: Mask = (counted[: len(chunks)] != claimed) | np.array(ragged, bool)
    return wrong


def _heads(slots: Bytes, order: str, chunk_of: Ints) -> tuple[_Heads, list[str]]:
    """Find the head slots, and for each EXT slot the record it belongs to."""
    is_ext = slots[:, KIND] == kbl.KblKind.EXT
    rows, ext = np.flatnonzero(~is_ext), np.flatnonzero(is_ext)
    owner = np.searchsorted(rows, ext) - 1
    head = rows[np.maximum(owner, 0)] if len(rows) else np.zeros(len(ext), np.int64)
    claimed = slots[rows, EXT_COUNT].astype(np.int64)
    owned = (owner >= 0) & (chunk_of[ext] == chunk_of[head])
    followed = np.bincount(owner[owned], minlength=len(rows))
    if len(rows):
        owned &= ext - head <= claimed[np.maximum(owner, 0)]
    complaints: list[str] = []
    wrong = (claimed != followed) | (claimed > kbl.KBL_MAX_EXT)
    _complain(complaints, wrong, "records do not have as many EXT slots as they claim")
    _complain(complaints, ~owned, "EXT slots belong to no record: left out")
    return _Heads(slots, order, rows, owner[owned], ext[owned]), complaints


def _fill_calls(records: Records, heads: _Heads, stext: int, symbols: Ints) -> None:
    kind = records["kind"]
    calls = np.flatnonzero((kind >= kbl.KblKind.ENTRY) & (kind <= kbl.KblKind.CALL))
    slots = heads.view(kbl.KBL_CALL_SLOT, heads.rows[calls])
    for name in ("flags", "func", "pid"):
        records[name][calls] = slots[name]
    records["ts"][calls] = slots["ts"].astype(np.int64)
    records["skb"][calls] = slots["skb"].astype(np.int64)
    exits = slots["kind"] == kbl.KblKind.EXIT
    records["data"][calls[exits]] = slots["caller"][exits]
    records["caller"][calls[~exits]] = _callers(slots[~exits], stext, symbols)


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


def _fill_events(records: Records, heads: _Heads) -> None:
    events = np.flatnonzero(records["kind"] == kbl.KblKind.EVENT)
    slots = heads.view(kbl.KBL_EVENT_SLOT, heads.rows[events])
    records["event"][events], records["pid"][events] = slots["event"], slots["pid"]
    for name in ("ts", "skb", "data"):
        records[name][events] = slots[name].astype(np.int64)


def _fill_lost(records: Records, heads: _Heads) -> None:
    lost = np.flatnonzero(records["kind"] == kbl.KblKind.LOST)
    slots = heads.view(kbl.KBL_LOST_SLOT, heads.rows[lost])
    ts, first = slots["ts"].astype(np.int64), slots["first_ns"].astype(np.int64)
    records["ts"][lost], records["dur"][lost] = ts, ts - first
    records["data"][lost] = slots["count"].astype(np.int64)
    records["func"][lost] = slots["func"].astype(np.int32)  # 0xffffffff = none = -1


def _fill_ext(records: Records, heads: _Heads) -> None:
    types = kbl.KblExtType
    _fill_ipv4(records, heads, *heads.of_type(types.IPV4))
    _fill_ipv6(records, heads, *heads.of_type(types.IPV6))
    _fill_ipv6_l4(records, heads, *heads.of_type(types.IPV6_L4))
    _fill_skb(records, heads, *heads.of_type(types.SKB))
    owner, ext = heads.of_type(types.CALL)
    slots = heads.view(kbl.KBL_EXT_CALL, ext)
    records["dur"][owner] = slots["dur"].astype(np.int64)
    records["data"][owner] = slots["ret"]


def _fill_ipv4(records: Records, heads: _Heads, owner: Ints, ext: Ints) -> None:
    slots = heads.view(kbl.KBL_EXT_IPV4, ext)
    records["ip_version"][owner] = 4
    for name in ("protocol", "ip_id", "frag_off"):
        records[name][owner] = slots[name]
    for name in ("saddr", "daddr"):
        records[name + "_lo"][owner] = np.ascontiguousarray(slots[name]).view(">u4")[:, 0]
    records["tot_len"][owner] = _or_unknown(slots["tot_len"].astype(np.int64))
    _fill_l4(records, owner, slots, slots["protocol"])


def _or_unknown(values: Ints) -> Ints:
    """The module writes 0 where it does not know."""
    return np.where(values == 0, -1, values)


def _fill_ipv6(records: Records, heads: _Heads, owner: Ints, ext: Ints) -> None:
    slots = heads.view(kbl.KBL_EXT_IPV6, ext)
    records["ip_version"][owner] = 6
    records["protocol"][owner] = slots["nexthdr"]
    for name in ("saddr_hi", "saddr_lo", "daddr_hi"):
        records[name][owner] = np.ascontiguousarray(slots[name]).view(">i8")[:, 0]


def _fill_ipv6_l4(records: Records, heads: _Heads, owner: Ints, ext: Ints) -> None:
    slots = heads.view(kbl.KBL_EXT_IPV6_L4, ext)
    records["daddr_lo"][owner] = np.ascontiguousarray(slots["daddr_lo"]).view(">i8")[:, 0]
    payload_len = _or_unknown(slots["payload_len"].astype(np.int64))
    records["tot_len"][owner] = np.where(payload_len > 0, payload_len + 40, -1)
    _fill_l4(records, owner, slots, records["protocol"][owner])


def _fill_l4(
    records: Records, owner: Ints, slots: Slots, protocol: npt.NDArray[np.integer]
) -> None:
    """Ports and what else the protocol has, as the packet reader fills them."""
    valid = slots["l4_valid"] != 0
    tcp, icmp = valid & (protocol == TCP), valid & np.isin(protocol, (ICMP, ICMPV6))
    for name, rows in (
        ("sport", valid),
        ("dport", valid),
        ("seq", tcp | icmp),
        ("ack", tcp),
        ("tcp_flags", tcp),
    ):
        records[name][owner[rows]] = slots[name][rows]


def _fill_skb(records: Records, heads: _Heads, owner: Ints, ext: Ints) -> None:
    slots = heads.view(kbl.KBL_EXT_SKB, ext)
    for name in ("ifindex", "gso_size", "gso_segs"):
        records[name][owner] = slots[name]
    for name in ("ethertype", "netns"):
        records[name][owner] = _or_unknown(slots[name].astype(np.int64))
    records["skb_len"][owner] = slots["len"]
    records["sk"][owner] = slots["sk"].astype(np.int64)

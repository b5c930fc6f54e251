# SPDX-License-Identifier: MIT
"""From made-up packets to the slots of kmod/kbl.h: whole calls, births, footprints, ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skbviewer.records import kbl_layout as kbl

from .traffic import (
    CALL_NS,
    CLONED_AT,
    GRAIN,
    ICMP,
    TAP_AT,
    TCP,
    UDP,
    Ints,
    Mask,
    Packets,
    Random,
)

WIRE_AT = 40  # ns after the entry of the function in which the tap is
STEP = 96  # ns from a function's entry to that of the one it calls
NETNS, IFINDEX = 0xF0000000, 2
ETH_P_IP = 0x0800
MAX_NEST = 3
ALLOC_FROM, FREE_FROM = 3, 5  # packets with so many calls or more have their birth, end as calls

# Probe numbers, in the order of `FUNCTIONS`.
FUNCTIONS = (
    "__netif_receive_skb_one_core", "ip_rcv", "tcp_v4_rcv", "udp_rcv", "icmp_rcv",
    "ip_output", "__dev_queue_xmit", "dev_hard_start_xmit", "napi_build_skb", "__alloc_skb",
    "kfree_skbmem", "ip_rcv_core", "raw_local_deliver", "sk_filter_trim_cap", "skb_checksum_help",
    "tcp_v4_fill_cb", "__skb_checksum_complete", "validate_xmit_skb", "netdev_core_pick_tx",
    "nf_hook_slow", "ip_finish_output2", "neigh_resolve_output", "qdisc_pkt_len_init",
)  # fmt: skip
BUILD, ALLOC, FREE = 8, 9, 10
INNER = 11  # and the following ones are called by the innermost function
INWARD = {TCP: (0, 1, 2), UDP: (0, 1, 3), ICMP: (0, 1, 4)}
OUTWARD = (5, 6, 7)


Heads = npt.NDArray[np.void]
Ext = npt.NDArray[np.void]


class Calls(NamedTuple):
    """Per packet: traced functions, how many of them nest, and the entry of the tap's function."""

    functions: Ints
    nest: Ints
    tap: Ints


class Slots(NamedTuple):
    """Records: head slots, their CPU, sort key (ns written * 2 + 1 for events), EXT in `pool`."""

    head: npt.NDArray[np.void]
    cpu: Ints
    key: Ints
    ext: Ints
    pool: npt.NDArray[np.void]

    def only(self, mask: Mask) -> Slots:
        ext = self.ext[mask]
        has = np.flatnonzero(ext >= 0)
        pool = self.pool[ext[has]]
        ext[has] = np.arange(len(has))
        return Slots(self.head[mask], self.cpu[mask], self.key[mask], ext, pool)

    def joined(self, more: Slots) -> Slots:
        shifted = np.where(more.ext >= 0, more.ext + len(self.pool), -1)
        parts = zip(self, more._replace(ext=shifted), strict=True)
        return Slots(*(np.concatenate(part) for part in parts))


POOL = np.dtype([("first", "V32"), ("second", "V32"), ("two", "?")])


def make_calls(rng: Random, packets: Packets, calls: float) -> Calls:
    """Choose how many functions of each packet are traced, `calls` on average."""
    count = int(calls) + (rng.random(len(packets)) < calls % 1).astype(np.int64)
    chain = count - _born_in_call(packets, count) - (count >= FREE_FROM)
    nest = np.minimum(chain, MAX_NEST)
    depth = np.where(packets["out"], nest - 1, 0)
    return Calls(count, nest, packets["begin"] + TAP_AT + STEP * depth)


def make_slots(packets: Packets, calls: Calls, first: int, last: int) -> Slots:
    """Return the records of packets `first` to `last`."""
    some = packets[first:last]
    part = Calls(*(column[first:last] for column in calls))
    number = np.arange(first, last)
    made = Maker()
    _births(made, some, part)
    _parents(made, some, number)
    _tasks(made, some)
    footprints(made, some)
    _chain(made, some, part)
    _inner(made, some, part)
    _ends(made, some, part)
    return made.slots()


class Maker:
    """Collects records."""

    def __init__(self) -> None:
        self._parts: list[Slots] = []

    def slots(self) -> Slots:
        whole = self._parts[0]
        for part in self._parts[1:]:
            whole = whole.joined(part)
        return whole

    def add(
        self,
        head: npt.NDArray[np.void],
        cpu: Ints,
        written: Ints,
        ext: npt.NDArray[np.void] | None = None,
    ) -> None:
        """Records; `ext` has POOL rows, one each."""
        is_event = head["kind"] != kbl.KblKind.CALL
        number = np.full(len(head), -1) if ext is None else np.arange(len(head))
        pool = np.zeros(0, POOL) if ext is None else ext
        if ext is not None:
            head["ext"] = 1 + ext["two"]
        key = written * 2 + is_event
        self._parts.append(Slots(head.view("V32"), cpu.astype(np.int64), key, number, pool))

    def call(
        self,
        packets: Packets,
        func: Ints | int,
        begin: Ints,
        end: Ints,
        skb: Ints,
        ret: Ints | None = None,
        counted: Ints | None = None,
    ) -> None:
        """CALLs of a function; with `ret` it returns the skb of that address.

        Without, `counted` are events of a hardware counter in each call.
        """
        head = np.zeros(len(packets), kbl.KBL_SPAN_SLOT)
        head["kind"], head["func"], head["ts"], head["dur"] = 3, func, begin, end - begin
        head["context"] = np.where(packets["out"], 0, 1)
        head["entry_cpu"], head["skb"] = packets["cpu"], skb.view(np.uint64)
        head["caller"] = 0x10000 + np.asarray(func) * 0x1000 + 0x40
        ext = None
        if ret is not None:
            head["flags"] = kbl.KBL_FLAG_SKB_IS_RET
            slot = np.zeros(len(packets), kbl.KBL_EXT_CALL)
            slot["kind"], slot["type"], slot["dur"], slot["ret"] = 6, 5, end - begin, ret
            ext = np.zeros(len(packets), POOL)
            ext["first"] = slot.view("V32")
        elif counted is not None:
            slot = np.zeros(len(packets), kbl.KBL_EXT_COUNTER)
            slot["kind"], slot["type"] = kbl.KblKind.EXT, kbl.KblExtType.COUNTER
            slot["valid"], slot["event"], slot["count"] = 1, 1, counted
            ext = np.zeros(len(packets), POOL)
            ext["first"] = slot.view("V32")
        self.add(head, packets["cpu"], end, ext)

    def event(
        self,
        packets: Packets,
        event: int,
        ts: Ints,
        skb: Ints,
        data: Ints | int = 0,
        ext: npt.NDArray[np.void] | None = None,
    ) -> None:
        head = np.zeros(len(packets), kbl.KBL_EVENT_SLOT)
        head["kind"], head["event"], head["ts"] = kbl.KblKind.EVENT, event, ts
        head["context"] = np.where(packets["out"], 0, 1)
        head["pid"] = packets["thread"]
        head["skb"], head["data"] = (
            skb.view(np.uint64),
            np.asarray(data).astype(np.int64).view(np.uint64),
        )
        self.add(head, packets["cpu"], ts, ext)


def _pick(packets: Packets, mask: Mask) -> Packets:
    return packets.view(f"V{packets.dtype.itemsize}")[mask].view(packets.dtype)


def _births(made: Maker, packets: Packets, calls: Calls) -> None:
    """Add ALLOC, for clones CLONE; some also have the call that reports the birth."""
    event = kbl.KblEvent.ALLOC
    born = _pick(packets, _born_in_call(packets, calls.functions))
    func = np.where(born["out"], ALLOC, BUILD)
    nothing = np.zeros(len(born), np.int64)
    made.call(born, func, born["begin"] + 2, born["begin"] + 202, nothing, born["skb"].copy())
    own = packets["kept"] < 0
    some = _pick(packets, own)
    made.event(some, event, some["begin"] + 202, some["skb"].copy(), 768)
    clones = _pick(packets, ~own)
    made.event(
        clones,
        kbl.KblEvent.CLONE,
        clones["begin"] + CLONED_AT,
        clones["parent"].copy(),
        clones["skb"],
    )


def _parents(made: Maker, packets: Packets, number: Ints) -> None:
    """The originals that TCP keeps: born with the first clone, freed when acknowledged."""
    mine = _pick(packets, packets["kept"] == number)
    address = mine["parent"].copy()
    made.event(mine, kbl.KblEvent.ALLOC, mine["begin"] + 2, address, 768)
    made.event(mine, kbl.KblEvent.FREE, mine["parted"], address)


def _tasks(made: Maker, packets: Packets) -> None:
    """Add a TASK where the sender changes; it includes the name when the thread is new."""
    some = _pick(packets, packets["switch"].astype(bool))
    nothing = np.zeros(len(some), np.int64)
    _, first = np.unique(some["cpu"].astype(np.int64) << 32 | some["thread"], return_index=True)
    new = np.zeros(len(some), np.bool_)
    new[first] = True
    for named in (False, True):
        part = _pick(some, new == named)
        ext = _names(part) if named else None
        thread = part["thread"].astype(np.int64)
        made.event(part, kbl.KblEvent.TASK, part["begin"] + 1, nothing[: len(part)], thread, ext)


def _names(some: Packets) -> Ext:
    slot = np.zeros(len(some), kbl.KBL_EXT_COMM)
    slot["kind"], slot["type"], slot["tid"] = 6, kbl.KblExtType.COMM, some["thread"]
    names = np.array([b"iperf3", b"nginx", b"dnsmasq", b"sshd"], "S16")
    slot["comm"] = names[some["thread"] % len(names)]
    ext = np.zeros(len(some), POOL)
    ext["first"] = slot.view("V32")
    return ext


def footprints(made: Maker, packets: Packets) -> None:
    """Add a FOOTPRINT of each skb where the stack begins with it."""
    skb = np.zeros(len(packets), kbl.KBL_EXT_SKB)
    ip = np.zeros(len(packets), kbl.KBL_EXT_IPV4)
    protocol = packets["protocol"]
    header = np.where(protocol == TCP, 20, 8)
    length = 20 + header + packets["payload"].astype(np.int64)
    for slot, type_ in ((skb, kbl.KblExtType.SKB), (ip, kbl.KblExtType.IPV4)):
        slot["kind"], slot["type"] = kbl.KblKind.EXT, type_
    skb["ethertype"], skb["ifindex"], skb["netns"], skb["len"] = ETH_P_IP, IFINDEX, NETNS, length
    skb["gso_segs"] = 1
    ip["protocol"], ip["l4_valid"], ip["frag_off"], ip["ttl"] = protocol, 1, 0x4000, 64
    ip["tot_len"], ip["tcp_flags"] = length, packets["flags"]
    for name in ("ip_id", "sport", "dport", "seq"):
        ip[name] = packets[name]
    ip["ack"] = np.where(protocol == TCP, packets["ack"], 0)
    for name in ("saddr", "daddr"):
        ip[name] = packets[name].astype(">u4").view(np.uint8).reshape(-1, 4)
    ext = np.zeros(len(packets), POOL)
    ext["first"], ext["second"], ext["two"] = skb.view("V32"), ip.view("V32"), True
    event = kbl.KblEvent.FOOTPRINT
    made.event(packets, event, packets["begin"] + TAP_AT, packets["skb"].copy(), 0, ext)


def _chain(made: Maker, packets: Packets, calls: Calls) -> None:
    """The functions that call each other, outermost first."""
    table = np.zeros((256, MAX_NEST), np.int64)
    for protocol, names in INWARD.items():
        table[protocol] = names
    outward = np.array(OUTWARD)
    for level in range(MAX_NEST):
        mask = calls.nest > level
        some, nest = _pick(packets, mask), calls.nest[mask]
        last = outward[np.minimum(MAX_NEST - nest + level, MAX_NEST - 1)]
        func = np.where(some["out"], last, table[some["protocol"], level])
        begin = some["begin"] + TAP_AT + STEP * level
        end = some["begin"] + some["service"] - TAP_AT - STEP * level
        made.call(some, func, begin, end, some["skb"].copy())


def _inner(made: Maker, packets: Packets, calls: Calls) -> None:
    """The functions that the innermost function calls, one after another."""
    ends = (calls.functions >= FREE_FROM) & _freed_at_once(packets)
    more = calls.functions - calls.nest - _born_in_call(packets, calls.functions) - ends
    for step in range(int(more.max(initial=0))):
        some = _pick(packets, more > step)
        begin = some["begin"] + TAP_AT + STEP * MAX_NEST + CALL_NS * step
        func = INNER + (step + some["flow"]) % (len(FUNCTIONS) - INNER)
        made.call(some, func, begin, begin + CALL_NS - 40, some["skb"].copy())


def _ends(made: Maker, packets: Packets, calls: Calls) -> None:
    """FREE; as a call if there are enough and it is freed at once."""
    made.event(packets, kbl.KblEvent.FREE, packets["freed"], packets["skb"].copy())
    some = _pick(packets, _freed_at_once(packets) & (calls.functions >= FREE_FROM))
    made.call(some, FREE, some["freed"], some["freed"] + GRAIN, some["skb"].copy())


def _born_in_call(packets: Packets, count: Ints) -> Mask:
    return np.asarray((packets["kept"] < 0) & (count >= ALLOC_FROM), np.bool_)


def _freed_at_once(packets: Packets) -> Mask:
    return np.asarray(packets["freed"] < packets["begin"] + packets["service"], np.bool_)

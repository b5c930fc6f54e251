# SPDX-License-Identifier: MIT
"""Divide the time of each leg into busy time and kinds of waits (docs/times.md).

Input: a KBL, its legs, the nesting, its calls and events, and the times when CPUs were interrupted
or switched threads.  Output: the spans in which each leg is not busy, and sums for each leg.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...matching import READER, LegTable, Nesting, record_blocks, whole
from ...readers import KblEvent
from ...records import ColumnTable, KernelLog, Records, part, scratch_of
from ...records.compiled import allocation_free
from ...records.types import Bools, Int32s, Int64s
from ..calls.call_table import CallTable
from ..calls.record_loss_times import Losses, spans_of
from ..words.wait_kinds import QDISC, RANKS, SOCKET
from .call_time_loops import SERIES_BITS, TASK, Beside, Inside, Owned
from .leg_time_loops import fill

ENTRY = 1  # kbl.h enum kbl_kind
NULL_SKB, SKB_IS_RET = 0x04, 0x10  # kbl.h KBL_FLAG_*
BACKLOG = frozenset(
    {"enqueue_to_backlog", "skb_flow_limit", "netif_rx_internal", "__netif_rx", "netif_rx"}
)
# Functions that merge fragments that waited for the last one, or segments that TCP's receiver kept.
MERGES = frozenset({"skb_morph", "skb_try_coalesce", "tcp_try_coalesce"})
# Functions that send packets from TCP's queues of unsent or unacknowledged data.
SENDS = frozenset({"__tcp_transmit_skb", "tcp_retransmit_skb", "__tcp_retransmit_skb"})
# Leave a segment in TCP's queue of unsent or of unacknowledged data.
KEEPS = frozenset({"tcp_insert_write_queue_after", "tcp_set_skb_tso_segs"}) | {
    "tcp_event_new_data_sent", "tcp_rbtree_insert", "skb_can_shift",
}  # fmt: skip
# Send a packet from a queueing discipline, or look at the first one there: netem's duplicates have
# no event of their enqueueing (net/sched/sch_netem.c).
DEQUEUED = frozenset({"sch_direct_xmit", "netem_skb_cb"})
# Receives a packet a second time, from a queue that NAPI polls, such as GRO cells.
POLLED = frozenset({"napi_gro_receive"})
RECEIVED = frozenset({"__netif_receive_skb", "__netif_receive_skb_one_core"})
# Take packets from the lists in which NAPI and GRO gather them, and pass them on together.
FLUSHES = frozenset({"napi_gro_complete", "inet_gro_complete", "ipv6_gro_complete"}) | {
    "netif_receive_skb_list_internal"
}
# Free a segment that TCP keeps until it is acknowledged, or merge it with another acknowledged one.
FREES = frozenset({"skb_release_data", "napi_consume_skb", "__kfree_skb", "tcp_ack"}) | {
    "skb_can_shift", "skb_shift",
}  # fmt: skip
# WireGuard's worker calls it when it has encrypted a packet, which is in the peer's queue then, and
# so does the worker that takes it from there, in the tunnel's code: no other code calls it twice in
# succession (drivers/net/wireguard/queueing.h, net/ipv4/ip_tunnel_core.c).  Other code calls
# DEVICE_QUEUE between two such calls (tunnels, veth), so the log must have a probe there.
SCRUBS, DEVICE_QUEUE = frozenset({"skb_scrub_packet"}), "__dev_queue_xmit"
# A thread of the kernel's packet generator builds a packet and holds it until the packet is due.
# No other thread holds packets outside all recorded calls for that (net/core/pktgen.c, spin()).
GENERATOR = "kpktgend_"
QUEUES = (
    (KblEvent.QDISC_ENQUEUE, KblEvent.QDISC_DEQUEUE, QDISC),
    (KblEvent.SOCK_ENQUEUE, KblEvent.COPY_TO_USER, SOCKET),
)
# Flags of calls, in the order of Owned.
FLAGS = (
    "has", "gives", "reads", "puts", "merges", "sends", "keeps", "dequeued", "polled", "stack",
    "flushes", "frees", "scrubs", "tcp", "paced",
)  # fmt: skip
# FLAGS from "reads" on
ROLES = (READER, BACKLOG, MERGES, SENDS, KEEPS, DEQUEUED, POLLED, RECEIVED, FLUSHES, FREES, SCRUBS)
DEEP = 4096  # more than the deepest nesting of calls in the kernel
FIRST_SPANS = 1 << 16  # number of spans for which memory is allocated at first


class Spent(NamedTuple):
    """The spans in which legs wait, and the sums of each leg's times.

    The first four fields have an element for each span, sorted by leg and time; `kind` is an index
    of WAIT_NAMES.  The last three fields have an element for each leg, in ns; -1 = unknown.
    """

    leg: Int32s
    kind: npt.NDArray[np.uint8]
    begin_ns: Int64s
    end_ns: Int64s
    cpu_ns: Int64s
    busy_ns: Int64s
    unknown_ns: Int64s


def build(
    log: KernelLog,
    legs: LegTable,
    nesting: Nesting,
    calls: CallTable,
    events: ColumnTable,
    lost: Losses,
) -> Spent:
    """Return how each leg of `log` spent its time: when it waited, and how long it was busy.

    `lost` are the reported losses; the other tables were made from the log's records.  If the log
    has points only, all times are unknown (-1).
    """
    if not log.returns:
        return _unknown(legs)
    assert calls.between is not None
    higher, switched = calls.between
    inside = _inside(log.records, nesting)
    spans = spans_of(lost)
    beside = Beside(
        higher.first, higher.begin, higher.end, higher.first.astype(np.int64),
        switched.first, switched.ts, switched.first.astype(np.int64), spans.begins, spans.ends,
    )  # fmt: skip
    owned = _owned(log, legs, nesting, calls, events)
    count = len(legs.rows)
    sums, counts = np.zeros((3, count), np.int64), np.zeros(3, np.int64)
    most = int(np.diff(owned.at).max(initial=0)) + 1
    held, stack = np.empty((3, most), np.int64), np.empty((5, DEEP), np.int64)
    paint, open_ = np.empty((4, FIRST_SPANS), np.int64), np.zeros(RANKS, np.int64)
    made = np.empty((4, max(FIRST_SPANS, 2 * count)), np.int64)
    while not fill(inside, beside, owned, held, paint, stack, made, sums, counts, open_):
        if 2 * counts[0] + 4 > paint.shape[1]:
            paint = np.empty((4, 4 * int(counts[0]) + 8), np.int64)
        else:
            made = np.concatenate([made, np.empty_like(made)], axis=1)
    leg, kind, begin, end = made[:, : counts[1]]
    return Spent(leg.astype(np.int32), kind.astype(np.uint8), begin, end, *sums)


def _unknown(legs: LegTable) -> Spent:
    """Return a Spent without spans and with unknown sums, for a log that has points only."""
    none, sums = np.zeros(0, np.int64), np.full((3, len(legs.rows)), -1, np.int64)
    return Spent(none.astype(np.int32), none.astype(np.uint8), none, none, *sums)


def _inside(records: Records, nesting: Nesting) -> Inside:
    scratch, count = scratch_of(records), len(records)
    around, size = scratch.take(count, np.int32), np.zeros(count + nesting.contexts + 1, np.int32)
    kind, exit_ts = whole(records, "kind", "u1"), whole(records, "exit_ts", "i8")
    _count(kind, exit_ts, nesting.carried, nesting.parent, nesting.context, around, size)
    np.cumsum(size, out=size)
    child = scratch.take(int(size[-1]), np.int32)
    _place(kind, exit_ts, nesting.carried, around, size.copy(), child)
    return Inside(
        whole(records, "ts", "i8"),
        exit_ts,
        whole(records, "cpu", "i4"),
        whole(records, "exit_cpu", "i4"),
        whole(records, "context", "u1"),
        whole(records, "pid", "i4"),
        around,
        size,
        child,
    )


@allocation_free
def _count(
    kind: npt.NDArray[np.uint8],
    exit_ts: Int64s,
    carried: Bools,
    parent: Int32s,
    context: Int32s,
    around: Int32s,
    size: Int32s,
) -> None:
    """Set around[i] to the call around record i, or else to the context (len(kind) + number).

    size[n + 1] becomes the number of calls directly inside record or context n.
    """
    for i in range(len(kind)):
        around[i] = parent[i] if parent[i] >= 0 else len(kind) + context[i]
        if kind[i] == ENTRY and exit_ts[i] >= 0 and not carried[i]:
            size[around[i] + 1] += 1


@allocation_free
def _place(
    kind: npt.NDArray[np.uint8],
    exit_ts: Int64s,
    carried: Bools,
    around: Int32s,
    begin: Int32s,
    child: Int32s,
) -> None:
    for i in range(len(kind)):
        if kind[i] == ENTRY and exit_ts[i] >= 0 and not carried[i]:
            child[begin[around[i]]] = i
            begin[around[i]] += 1


def _owned(
    log: KernelLog, legs: LegTable, nesting: Nesting, calls: CallTable, events: ColumnTable
) -> Owned:
    records, scratch, count = log.records, calls.scratch, len(calls)
    takes, *roles = _by_function(log)
    flags = {name: scratch.take(count, np.bool_) for name in FLAGS}
    record = scratch.take(count, np.int32)
    generators = [tid for tid, name in log.tasks.items() if name.startswith(GENERATOR)]
    for rows in calls.passing():
        entry = calls.part("entry", rows)
        given = nesting.parent[entry]
        record[rows] = np.where(nesting.carried[entry] & (given >= 0), given, entry)
        func = calls.part("func", rows).astype(np.int64)
        func = np.where((func >= 0) & (func < len(takes)), func, len(takes) - 1)
        said = calls.part("flags", rows)
        flags["has"][rows] = calls.part("skb", rows) != 0
        returns = (said & SKB_IS_RET != 0) & (calls.part("exit_ns", rows) >= 0)
        flags["gives"][rows] = returns & ~(takes[func] & (said & NULL_SKB == 0))
        for name, of_function in zip(FLAGS[2:-1], roles, strict=True):
            flags[name][rows] = of_function[func]
        flags["paced"][rows] = False
        if generators:
            alone = (nesting.parent[entry] < 0) & (calls.part("context", rows) == TASK)
            flags["paced"][rows] = alone & np.isin(calls.part("pid", rows), generators)
    size = np.bincount(calls.stored("leg"), minlength=len(legs.rows))
    at = np.append(0, np.cumsum(size))
    begin, end = (np.asarray(legs.rows[name], np.int64) for name in ("begin_ns", "end_ns"))
    series = np.asarray(legs.rows["series"], np.int64)
    marks = (scratch.full(len(records), np.int32, -1) for _ in range(2))
    queues = _queues(records, legs, events)
    also = _also(records, legs, nesting)
    mine: tuple[Any, ...] = (begin, end, series, legs.of, *marks, also, *queues)
    return Owned(at, record, *flags.values(), *mine)


def _also(records: Records, legs: LegTable, nesting: Nesting) -> Int64s:
    """Return Owned.also: pairs of a call and the lifetime of one of its further packets, sorted."""
    series, made = np.asarray(legs.rows["series"], np.int64), [np.zeros(0, np.int64)]
    for some in record_blocks(records):
        further = np.flatnonzero(nesting.carried[some] & (legs.of[some] >= 0)) + some.start
        call = nesting.parent[further].astype(np.int64)
        made.append((call << SERIES_BITS) | series[legs.of[further]])
    return np.unique(np.concatenate(made))


def _by_function(log: KernelLog) -> list[Bools]:
    """Return flags by probe: its function takes a packet, has each of ROLES, is named tcp_*.

    The last element of each array of flags is for records without a probe.
    """
    made = [np.zeros(max(log.probes, default=-1) + 2, np.bool_) for _ in FLAGS[1:-1]]
    known = {probe.name for probe in log.probes.values()}
    sets = (*ROLES[:-1], SCRUBS if DEVICE_QUEUE in known else frozenset[str]())
    for probe in log.probes.values():
        roles = [probe.name in names for names in sets]
        for column, value in zip(
            made, [probe.arg >= 0, *roles, probe.name.startswith("tcp_")], strict=True
        ):
            column[probe.id] = value
    return made


def _queues(
    records: Records, legs: LegTable, events: ColumnTable
) -> tuple[Int64s, npt.NDArray[np.uint8], Int64s, Int64s]:
    """Return when each leg was in a queue: the arrays from `queue_at` to `queue_end` of Owned.

    A leg is in a queue from its enqueue event to its next dequeue event.
    """
    event, leg = np.asarray(events["event"]), np.asarray(events["leg"], np.int64)
    found = [np.zeros((4, 0), np.int64)]
    for enter, leave, rank in QUEUES:
        mine = np.flatnonzero(((event == enter) | (event == leave)) & (leg >= 0))
        mine = mine[np.argsort(leg[mine], kind="stable")]
        enters = event[mine] == enter
        place = np.where(enters, len(mine), np.arange(len(mine)))
        following = np.minimum.accumulate(place[::-1])[::-1]
        known = enters & (following < len(mine))
        known[known] = leg[mine[known]] == leg[mine[following[known]]]
        ts = np.asarray(part(records, "ts", np.asarray(events["record"], np.int64)[mine]), np.int64)
        begin = np.flatnonzero(known)
        rank_of = np.full(len(begin), rank)
        found.append(np.stack([leg[mine[begin]], rank_of, ts[begin], ts[following[begin]]]))
    of, rank, since, until = np.concatenate(found, axis=1)
    order = np.lexsort((since, of))
    at = np.searchsorted(of[order], np.arange(len(legs.rows) + 1)).astype(np.int64)
    return at, rank[order].astype(np.uint8), since[order], until[order]

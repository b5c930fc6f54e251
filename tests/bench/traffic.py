# SPDX-License-Identifier: MIT
"""Makes up the traffic of one host: which packets, when, on which CPU, in which skb.

Flows of TCP, UDP and ICMP come in bursts; each CPU handles one packet after the other.  One flow in
twenty sends identification 0, one TCP segment in two hundred is sent again, skb addresses are used
again as soon as they are free.  TCP sends clones of an skb that it keeps until the peer has it.
All arrays are parallel to `Traffic.packets`, times are ns of the kernel's clock.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Random = np.random.Generator

ICMP, TCP, UDP = 1, 6, 17
CPUS = 4
HOST = 0x0A000001
EPOCH = 1_000_000_000  # of the kernel's clock, when the recording begins
GRAIN = 64  # packets begin at multiples of it, so that no two instants of a CPU are alike
PACKETS_A_FLOW = 50
CLONED_AT = 250  # ns after the start: TCP's clone is born
TAP_AT = 320  # the outermost function of the stack begins
THREADS, FIRST_THREAD = 40, 1000
MIN_SERVICE = 2624
CALL_NS = 128  # what a further function takes
SKB_BASE = -0x0000_70F0_0000_0000  # ffff8f10_00000000 as signed 64 bits
SKB_SIZE = 256

PACKETS = np.dtype(
    [
        ("begin", "<i8"),
        ("service", "<i8"),
        ("freed", "<i8"),
        ("kept", "<i8"),  # TCP sends: number of the packet whose original this is a clone of, or -1
        ("parted", "<i8"),  # when that original is freed (in the row of the first clone)
        ("skb", "<i8"),
        ("parent", "<i8"),  # address of that original
        ("cpu", "<i4"),
        ("flow", "<i4"),
        ("thread", "<i4"),  # that runs on the CPU
        ("switch", "?"),  # it runs there from this packet on
        ("protocol", "u1"),
        ("out", "?"),
        ("saddr", "<u4"),
        ("daddr", "<u4"),
        ("sport", "<u2"),
        ("dport", "<u2"),
        ("ip_id", "<u2"),
        ("payload", "<u2"),
        ("seq", "<u4"),
        ("ack", "<u4"),
        ("flags", "u1"),
    ]
)

Packets = npt.NDArray[np.void]


class Groups(NamedTuple):
    """Equal values of a key: `order` sorts by it (stable), `rank` counts within each, from 0."""

    order: Ints
    rank: Ints
    first: Mask  # in sorted order


def make_traffic(rng: Random, count: int, calls: float) -> Packets:
    """Return `count` packets with about `calls` traced functions each, sorted by begin."""
    packets = np.zeros(count, PACKETS)
    flow, arrival = _bursts(rng, count, calls)
    packets["flow"] = flow
    _flows(rng, packets, max(1, count // PACKETS_A_FLOW))
    _numbers(rng, packets)
    service = MIN_SERVICE + CALL_NS * int(calls) + rng.integers(0, 3000, count)
    packets["service"] = service // GRAIN * GRAIN
    _schedule(packets, arrival)
    _free(rng, packets)
    _addresses(packets)
    _threads(packets)
    order = np.argsort(packets["begin"], kind="stable")
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    packets = packets.view(f"V{PACKETS.itemsize}")[order].view(PACKETS)
    kept = packets["kept"]
    packets["kept"] = np.where(kept >= 0, place[kept], -1)
    return packets


def group(key: Ints) -> Groups:
    """Group equal keys, in their order."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.r_[True, ordered[1:] != ordered[:-1]][: len(key)]
    place = np.arange(len(key))
    rank = np.empty(len(key), np.int64)
    rank[order] = place - np.maximum.accumulate(np.where(first, place, 0))
    return Groups(order, rank, first)


def _bursts(rng: Random, count: int, calls: float) -> tuple[Ints, Ints]:
    """Return flow and arrival of each packet.

    Bursts have about four packets; CPUs are busy a quarter of the time.
    """
    lengths = rng.geometric(0.25, count)
    burst = np.repeat(np.arange(count), lengths)[:count]
    flows = rng.integers(0, max(1, count // PACKETS_A_FLOW), count)
    first = np.r_[True, burst[1:] != burst[:-1]]
    busy = MIN_SERVICE + 1500 + CALL_NS * calls
    pause = rng.exponential(4 * busy, count).astype(np.int64)
    gaps = np.where(first, pause, rng.integers(1000, 4000, count))
    return flows[burst], EPOCH + np.cumsum(gaps) // GRAIN * GRAIN


def _flows(rng: Random, packets: Packets, flows: int) -> None:
    """Protocol, direction and addresses."""
    flow = packets["flow"]
    protocol = rng.choice(np.array([TCP, UDP, ICMP], np.uint8), flows, p=[0.55, 0.40, 0.05])[flow]
    sends = rng.random(flows) < 0.3
    turn = rng.random(len(packets)) < 0.5  # TCP and ICMP go both ways
    out = np.where(protocol == UDP, sends[flow], turn)
    peer = (0x0A800000 + rng.integers(0, 1 << 16, flows)).astype(np.uint32)[flow]
    packets["protocol"], packets["out"] = protocol, out
    packets["saddr"] = np.where(out, HOST, peer)
    packets["daddr"] = np.where(out, peer, HOST)
    near = rng.choice(np.array([53, 80, 443, 5201], np.uint16), flows)[flow]
    far = rng.integers(32768, 61000, flows).astype(np.uint16)[flow]
    is_icmp = protocol == ICMP
    packets["sport"] = np.where(is_icmp, np.where(out, 0, 8 << 8), np.where(out, near, far))
    packets["dport"] = np.where(is_icmp, flow & 0xFFFF, np.where(out, far, near))
    receiver = flow % CPUS
    packets["cpu"] = np.where(out, (flow // CPUS + 1) % CPUS, receiver)


def _numbers(rng: Random, packets: Packets) -> None:
    """Identification, lengths, sequence numbers, and which packet is a retransmission of which."""
    count = len(packets)
    way = packets["flow"].astype(np.int64) * 2 + packets["out"]
    groups = group(way)
    order, rank = groups.order, groups.rank
    ways = int(packets["flow"].max(initial=0)) * 2 + 2
    start = rng.integers(0, 1 << 16, ways)
    zero = rng.random(ways // 2) < 0.05
    packets["ip_id"] = np.where(zero[way // 2], 0, (start[way] + rank) & 0xFFFF)
    is_tcp = packets["protocol"] == TCP
    payload = np.minimum(rng.exponential(150, count).astype(np.int64), 1448)
    payload[is_tcp & (rng.random(count) < 0.3)] = 0
    payload[packets["protocol"] == ICMP] = 56
    previous = np.full(count, -1, np.int64)
    previous[order[1:]] = np.where(groups.first[1:], -1, order[:-1])
    again = is_tcp & (previous >= 0) & (rng.random(count) < 0.005)
    again &= payload[previous] > 0
    again &= ~again[previous]
    payload[again] = payload[previous[again]]
    sent = np.where(again, 0, payload)[order]
    before = np.cumsum(sent) - sent
    base = before[np.maximum.accumulate(np.where(groups.first, np.arange(count), 0))]
    seq = np.empty(count, np.int64)
    seq[order] = before - base
    seq[again] = seq[previous[again]]
    initial = rng.integers(0, 1 << 32, ways)
    is_icmp = packets["protocol"] == ICMP
    number = np.select([is_tcp, is_icmp], [initial[way] + seq, rank & 0xFFFF], 0)
    packets["seq"] = number & 0xFFFFFFFF
    packets["ack"] = np.where(is_tcp, initial[way ^ 1] + rank, 0) & 0xFFFFFFFF
    packets["ack"][again] = packets["ack"][previous[again]]
    packets["flags"] = np.where(is_tcp, np.where(payload > 0, 0x18, 0x10), 0)
    packets["payload"] = payload
    clone = is_tcp & packets["out"]
    packets["kept"] = np.where(clone, np.where(again, previous, np.arange(count)), -1)


def _schedule(packets: Packets, arrival: Ints) -> None:
    """Each CPU handles its packets in the order they come, one at a time."""
    for cpu in range(CPUS):
        mine = np.flatnonzero(packets["cpu"] == cpu)
        service = packets["service"][mine] + GRAIN
        before = np.cumsum(service) - service
        packets["begin"][mine] = np.maximum.accumulate(arrival[mine] - before) + before


def _threads(packets: Packets) -> None:
    """A sender runs from its packet on; an incoming packet interrupts the running thread."""
    for cpu in range(CPUS):
        mine = np.flatnonzero(packets["cpu"] == cpu)
        sends = packets["out"][mine]
        last = np.maximum.accumulate(np.where(sends, np.arange(len(mine)), 0))
        thread = FIRST_THREAD + packets["flow"][mine[last]] % THREADS
        packets["thread"][mine] = thread
        packets["switch"][mine] = np.r_[True, thread[1:] != thread[:-1]][: len(mine)]


def _free(rng: Random, packets: Packets) -> None:
    """When the skbs are freed: at once, or when a process has read or the driver has sent them."""
    count = len(packets)
    end = packets["begin"] + packets["service"]
    wait = rng.exponential(300_000, count).astype(np.int64) + 20_000
    late = rng.random(count) < 0.3
    packets["freed"] = np.where(late, end + wait, end - 150)
    packets["parted"] = -1
    clones = np.flatnonzero(packets["kept"] >= 0)
    owner = packets["kept"][clones]
    acknowledged = packets["freed"][clones] + rng.integers(50_000, 2_000_000, len(clones))
    np.maximum.at(packets["parted"], owner, acknowledged)


def _addresses(packets: Packets) -> None:
    """Addresses from pools as small as can be: one a CPU, one for those freed late, one of TCP."""
    end = packets["begin"] + packets["service"]
    late = packets["freed"] > end
    pool = np.where(late, CPUS, packets["cpu"])
    base = SKB_BASE
    for number in range(CPUS + 1):
        mine = np.flatnonzero(pool == number)
        size = _assign(packets, "skb", mine, packets["begin"][mine], packets["freed"][mine], base)
        base += size * SKB_SIZE
    first = np.flatnonzero(packets["kept"] == np.arange(len(packets)))
    born, freed = packets["begin"][first], packets["parted"][first]
    _assign(packets, "parent", first, born, freed, base)
    kept = packets["kept"]
    packets["parent"] = np.where(kept >= 0, packets["parent"][kept], 0)


def _assign(packets: Packets, column: str, rows: Ints, born: Ints, freed: Ints, base: int) -> int:
    """Assign addresses in turn, without using one twice at a time; return how many are used."""
    if not len(rows):
        return 0
    order = np.argsort(born, kind="stable")
    born, freed = born[order], freed[order]
    alive = np.searchsorted(born, freed, "right") - np.arange(len(born))
    size = int(alive.max()) + 1
    packets[column][rows[order]] = base + np.arange(len(rows)) % size * SKB_SIZE
    return size

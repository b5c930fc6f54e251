# SPDX-License-Identifier: MIT
"""Makes up the traffic of ten hosts, and what each of them records of it: with the truth.

Two tenants use the same addresses: clients c0 and c1 of the one, d0 and a peer without a recording
of the other.  n0 and n1 translate both tenants' sources to one address, and at times to one port.
Balancer l0 translates destinations, to servers s0 and s1.  t0 and t1 are taps: captures without a
log.  Packets are lost on links, and in captures.  All clocks drift, and walls clocks are set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Random = np.random.Generator

HOSTS = ("c0", "c1", "d0", "n0", "n1", "l0", "s0", "s1", "t0", "t1")
C0, C1, D0, N0, N1, L0, S0, S1, T0, T1 = range(10)
C9, D9 = 10, 11  # a client of each tenant that has no recording, both with one address
TAPS = (T0, T1)
GAPS = (N1, S1)  # their logs lack records
EPOCH = 1_800_000_000_000_000_000  # real time of the first packet, ns since 1970
TCP, UDP = 6, 17
IN, OUT = 1, 2
TX, RX, FORWARD = 1, 2, 3
TENANT, PEER, THIRD = 0x0A000001, 0x0A000002, 0x0A000003
SNAT, VIP, SERVER = 0xC0000201, 0xC6336401, 0xC6336410
LOST_ON_LINK, LOST_IN_CAPTURE, TWICE, UNPLACED = 0.01, 0.006, 0.003, 0.02
LOST_IN_TAP = 0.02
COLLIDING = 0.1  # flows of n1 that get the port that a flow of n0 has

NEAR_ID, ALIKE = 300, 64  # within a tenant, identifications begin below, payloads are so long

HEADER = ("saddr", "daddr", "protocol", "ip_id", "sport", "dport", "seq", "ack", "flags", "payload")


class Flows(NamedTuple):
    """One row for each conversation; `client` and `server` are hosts, `local`: within a tenant."""

    client: Ints
    server: Ints
    local: Ints
    protocol: Ints
    sport: Ints
    translated: Ints
    dport: Ints
    begin: Ints
    gap: Ints
    ids: Ints  # identifications repeat after so many; 1: all are 0


class Seen(NamedTuple):
    """Sightings by row: the `packet` of the truth, the `host`, the real time, and the header."""

    packet: Ints
    host: Ints
    real: Ints
    way: Ints
    role: Ints
    ttl: Ints
    header: dict[str, Ints]


def make_flows(rng: Random, count: int, duration: int) -> Flows:
    """Return conversations that begin within `duration` ns."""
    client = rng.choice([C0, C1, D0, C9, D9], count, p=[0.33, 0.27, 0.32, 0.04, 0.04])
    local = ((rng.random(count) < 0.12) & (client != C1)) | (client >= C9)
    number = np.arange(count)
    free = 20000 + number % 40000
    taken = (client == D0) & (rng.random(count) < COLLIDING)
    return Flows(
        client=client,
        server=np.where(rng.random(count) < 0.5, S0, S1),
        local=local.astype(np.int64),
        protocol=np.where(rng.random(count) < 0.6, TCP, UDP),
        sport=np.where(local, 30000 + number % 7, 1024 + number % 60000),
        translated=np.where(taken, 20000 + rng.integers(0, count, count) % 40000, free),
        dport=np.where(local, 7000, 443),
        begin=rng.integers(0, duration, count),
        gap=rng.integers(2_000_000, 60_000_000, count),
        ids=rng.choice([65536, 128, 8, 1], count, p=[0.86, 0.08, 0.03, 0.03]),
    )


class Packets(NamedTuple):
    """The packets as their senders made them; `onward`: by the client."""

    flow: Ints
    onward: npt.NDArray[np.bool_]
    real: Ints
    ip_id: Ints
    seq: Ints
    ack: Ints
    flags: Ints
    payload: Ints


def make_packets(rng: Random, flows: Flows, each: int) -> Packets:
    """Return about `each` packets for each conversation."""
    size = rng.geometric(1 / each, len(flows.client))
    flow = np.repeat(np.arange(len(size)), size)
    rank = np.arange(len(flow)) - np.repeat(np.cumsum(size) - size, size)
    onward = (rng.random(len(flow)) < 0.5) | (rank == 0)
    pause = rng.exponential(flows.gap[flow]).astype(np.int64) + 2000
    total = np.cumsum(pause)
    real = flows.begin[flow] + total - np.repeat(total[np.cumsum(size) - size], size)
    local = flows.local[flow] == 1
    payload = np.where(local, ALIKE, rng.integers(1, 1400, len(flow)))
    start = rng.integers(0, 1 << 31, (2, len(size)))
    way = np.where(onward, 0, 1)
    sent = [_before(flow, np.where(way == at, payload, 0), size) for at in (0, 1)]
    nth = [_before(flow, (way == at).astype(np.int64), size) for at in (0, 1)]
    is_tcp = flows.protocol[flow] == TCP
    own, other = np.where(onward, *sent), np.where(onward, *sent[::-1])
    seq, ack = start[way, flow] + own, start[1 - way, flow] + other
    first = np.where(
        flows.local == 1,
        rng.integers(0, NEAR_ID, (2, len(size))),
        rng.integers(0, 65536, (2, len(size))),
    )
    ids = np.maximum(flows.ids[flow], 1)
    ip_id = np.where(ids == 1, 0, (first[way, flow] + np.where(onward, *nth)) % ids)
    return Packets(
        flow, onward, real, ip_id, np.where(is_tcp, seq, -1), np.where(is_tcp, ack, -1),
        np.where(is_tcp, 24, -1), payload,
    )  # fmt: skip


def _before(flow: Ints, value: Ints, size: Ints) -> Ints:
    """Return the sum of the values of earlier packets of the same flow."""
    total = np.cumsum(value) - value
    return np.asarray(total - np.repeat(total[np.cumsum(size) - size], size), np.int64)


class Stage(NamedTuple):
    """Where packets pass: the host, the way, its role, by how much the ttl fell, which header."""

    host: int
    way: int
    role: int
    hops: int
    header: int  # 0: the client's, 1: translated, 2: balanced


def stages(client: int, server: int, local: bool) -> list[Stage]:
    """Return the stages from a client to a server."""
    if client == C9:
        return [Stage(C1, IN, RX, 0, 0)]
    if client == D9:
        return [Stage(T1, 0, 0, 0, 0)]
    if local and client == C0:
        return [Stage(C0, OUT, TX, 0, 0), Stage(C1, IN, RX, 0, 0)]
    if local:
        return [Stage(D0, OUT, TX, 0, 0), Stage(T1, 0, 0, 0, 0)]
    nat = N1 if client == D0 else N0
    tapped = [Stage(T1, 0, 0, 0, 0)] if client == D0 else []
    return [
        Stage(client, OUT, TX, 0, 0), *tapped,
        Stage(nat, IN, FORWARD, 0, 0), Stage(nat, OUT, FORWARD, 1, 1), Stage(T0, 0, 0, 1, 1),
        Stage(L0, IN, FORWARD, 1, 1), Stage(L0, OUT, FORWARD, 2, 2), Stage(server, IN, RX, 2, 2),
    ]  # fmt: skip


def _back(path: list[Stage]) -> list[Stage]:
    """Return the stages of the opposite direction."""
    most = path[-1].hops
    turned = {TX: RX, RX: TX, FORWARD: FORWARD, 0: 0}
    return [
        Stage(each.host, (0, OUT, IN)[each.way], turned[each.role], most - each.hops, each.header)
        for each in reversed(path)
    ]


def make_seen(rng: Random, flows: Flows, packets: Packets) -> Seen:
    """Send the packets along their routes; return all sightings that some recorder made."""
    link = rng.integers(20_000, 400_000, (10, 10))
    parts: list[Seen] = []
    of = packets.flow
    for client in (C0, C1, D0, C9, D9):
        for server in (S0, S1):
            for local in (False, True):
                mine = (flows.client[of] == client) & (flows.server[of] == server)
                mine &= flows.local[of] == local
                path = stages(client, server, local)
                for onward in (True, False):
                    rows = np.flatnonzero(mine & (packets.onward == onward))
                    way = path if onward else _back(path)
                    parts += _along(rng, flows, packets, rows, way, link, onward)
    return joined(parts)


def joined(parts: list[Seen]) -> Seen:
    """Return all rows of several parts."""
    columns = [np.concatenate(column) for column in zip(*(part[:6] for part in parts), strict=True)]
    header = {name: np.concatenate([part.header[name] for part in parts]) for name in HEADER}
    return Seen._make([*columns, header])


def _along(
    rng: Random, flows: Flows, packets: Packets, rows: Ints, path: list[Stage],
    link: Ints, onward: bool,
) -> list[Seen]:  # fmt: skip
    real, made = packets.real[rows].copy(), []
    for at, stage in enumerate(path):
        if at:
            last = path[at - 1].host
            same = last == stage.host
            wait = 5_000 if same else int(link[last, stage.host])
            real = real + wait + rng.exponential(wait / 4, len(real)).astype(np.int64)
            slow = rng.random(len(real)) < 0.005
            real = real + np.where(slow, rng.integers(0, 15_000_000, len(real)), 0)
            there = rng.random(len(real)) >= (0 if same else LOST_ON_LINK)
            real, rows = real[there], rows[there]
        again = np.flatnonzero(rng.random(len(rows)) < TWICE)
        index = np.r_[np.arange(len(rows)), again]
        time = real[index] + np.where(np.arange(len(index)) < len(rows), 0, 700)
        caught = rng.random(len(index)) >= LOST_IN_TAP
        caught |= stage.host not in TAPS  # the log has the lifetime, see recorded()
        index, time = index[caught], time[caught]
        full = np.full(len(index), 1)
        header = _header(flows, packets, rows[index], stage.header, onward)
        made.append(
            Seen(
                rows[index], full * stage.host, time, full * stage.way, full * stage.role,
                full * (64 - stage.hops), header,
            )
        )  # fmt: skip
    return made


def _header(flows: Flows, packets: Packets, rows: Ints, kind: int, onward: bool) -> dict[str, Ints]:
    of = packets.flow[rows]
    client = np.where(flows.client[of] == C1, PEER, TENANT)
    client = np.where(flows.client[of] >= C9, THIRD, client)
    far = np.where(flows.local[of] == 1, PEER, np.where(kind == 2, SERVER + flows.server[of], VIP))
    near = client if kind == 0 else np.full(len(of), SNAT)
    port = flows.sport[of] if kind == 0 else flows.translated[of]
    ends = (near, port), (far, flows.dport[of])
    (saddr, sport), (daddr, dport) = ends if onward else ends[::-1]
    own = (packets.seq[rows], packets.ack[rows], packets.flags[rows], packets.payload[rows])
    columns = (saddr, daddr, flows.protocol[of], packets.ip_id[rows], sport, dport, *own)
    return dict(zip(HEADER, columns, strict=True))

# SPDX-License-Identifier: MIT
"""Small cases staged as packet lifetimes in one log and one capture, among packets of known time.

Each case has addresses of its own and is a millisecond from the next one.  Each of its lifetimes
is received on a CPU of its own, where a packet socket gets it; some at another device, whose
sniffer is not this capture's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from skbviewer.matching import EXACT, build_kernel_side, build_legs, build_series, match
from skbviewer.matching.clock.clock_fit import ClockFit
from skbviewer.records import KernelLog
from tests.readers import build
from tests.readers.build_kbl import Ipv4

from .cases import Header, alike
from .enumerator import ABSENT, Case
from .story import HOST, OTHER, SOFTIRQ, Story, wire

A = 0xFFFF888000001000
OFFSET, MS = 1_700_000_000_000_000_000, 1_000_000
ANCHORS, APART = 20, MS  # packets whose own numbers make the clock, before and after the cases
LONGEST = 900  # ns that a call of the packet socket lasts at most
CPUS = 8
CUT = 36  # bytes: an IP header and no port


class Life(NamedTuple):
    """An skb lifetime: its times in the log, ns, and its looks; `here` at the capture's device."""

    skb: int
    arrival: int
    begin: int
    end: int
    looks: Header
    here: bool
    lost: bool
    sends: bool  # on its way out: the packet socket gets a clone


class Sent(NamedTuple):
    """A packet of the capture: `life` is its lifetime's number in the case, or ABSENT."""

    order: float
    stamp: int
    looks: Header
    life: int


@dataclass
class Scene:
    """One case: lifetimes and packets; `gaps` are the losses that the log declares."""

    number: int
    lives: list[Life] = field(default_factory=list)
    packets: list[Sent] = field(default_factory=list)
    gaps: list[tuple[int, int, int]] = field(default_factory=list)  # begin, end, CPU
    honest: bool = True


class Stage(NamedTuple):
    """skbviewer's matches for a log with scenes, and what an enumerator needs to judge them.

    `first` is the number of each scene's first packet in the capture; `at` and `error` are all
    packets' times on the product's clock, ns; `exact` has the address of a packet's skb.
    """

    scenes: list[Scene]
    first: list[int]
    at: list[int]
    error: list[int]
    exact: dict[int, set[int]]


def scene(number: int, rng: Random, losses: bool, sends: float, honest: bool) -> Scene:
    """Return a case drawn at random; `sends` is the share of packets that are on their way out."""
    made, start = Scene(number), (ANCHORS + 1 + number) * APART
    length, longest = rng.choice([300, 1500, 6000]), rng.choice([20, 200, LONGEST])
    numbers, ports = rng.choice([[0], [7], [0, 7]]), rng.choice([[0], [0, 1]])
    hidden, elsewhere = rng.choice([0, 0, 0.3]), rng.choice([0, 0, 0.2])
    for n in range(rng.randint(1, 7)):
        begin = start + rng.randint(0, length)
        end, arrival = begin + rng.randint(10, longest), begin - rng.choice([15, 150, 400])
        port = None if rng.random() < hidden else rng.choice(ports)
        here = rng.random() >= elsewhere
        skb = A + 0x1000 * (CPUS * (number + 100) + n)
        lost = losses and rng.random() < 0.2
        looks = rng.choice(numbers), port
        out = rng.random() < sends
        made.lives.append(Life(skb, arrival, begin, end, looks, here, lost, out))
        if lost:
            made.gaps.append((arrival - 500, end + 500, n))
    _capture(made, rng, ports)
    if not honest:
        _spoil(made, rng)
    return made


def _capture(made: Scene, rng: Random, ports: list[int]) -> None:
    missing = rng.choice([0, 0, 0.2, 0.5])
    for n, life in enumerate(made.lives):
        if life.here and rng.random() >= missing:
            port = rng.choice(ports) if life.looks[1] is None else life.looks[1]
            order, stamp = rng.uniform(life.begin, life.end), rng.randint(life.arrival, life.end)
            made.packets.append(Sent(order, stamp, (life.looks[0], port), n))
    made.packets.sort()


def _spoil(made: Scene, rng: Random) -> None:
    """A packet that is captured twice, or a foreign one."""
    kind = rng.choice(["", "", "", "", "copy", "foreign"])
    if kind and made.packets and len(made.packets) < 7:
        p, made.honest = rng.randrange(len(made.packets)), False
        again = made.packets[p]._replace(life=ABSENT)
        made.packets.insert(p + 1, again if kind == "copy" else again._replace(looks=(7, 1)))


def stage(folder: Path, scenes: list[Scene], sends: float, rng: Random) -> Stage:
    """Write the log and the capture, and match them."""
    story, frames, first = Story(), [], []
    story.kbl.header["nr_cpus"] = CPUS
    story.alloc(1, A - 0x2000)
    story.clone(2, A - 0x2000, A - 0x1000, "skb_clone")  # the log shows clones
    lasting = rng.choice([60, 60, 1000, 4000])
    drift, cut = rng.choice([0, 0, 40e-6]), rng.choice([262144, 262144, CUT])
    for n in range(ANCHORS):
        frames.append(_anchor(story, n, lasting, rng.random() < sends, rng))
    for one in scenes:
        first.append(len(frames))
        for n, life in enumerate(one.lives):
            _live(story, one.number, n, life)
        for begin, end, cpu in one.gaps:
            story.lost(end, 20, begin, cpu)
        frames += [(sent.stamp, _frame(one.number, sent.looks)) for sent in one.packets]
    for n in range(len(scenes) + ANCHORS + 1, len(scenes) + 2 * ANCHORS):
        frames.append(_anchor(story, n, lasting, rng.random() < sends, rng))
    shown = [(ts + round(drift * ts) + OFFSET, frame) for ts, frame in frames]
    made = _matched(story.log(folder), folder, shown, cut, scenes, first)
    return made if cut > CUT else made._replace(scenes=[_cut(one) for one in scenes])


def _cut(one: Scene) -> Scene:
    packets = [sent._replace(looks=(sent.looks[0], None)) for sent in one.packets]
    return Scene(one.number, one.lives, packets, one.gaps, one.honest)


def _matched(
    log: KernelLog,
    folder: Path,
    shown: list[build.Packet],
    cut: int,
    scenes: list[Scene],
    first: list[int],
) -> Stage:
    packets = wire(folder, shown, cut)
    series = build_series(log)
    legs = build_legs(log, series)
    found = match(packets, build_kernel_side(log, series, legs))
    skb = {int(s): int(a) for s, a in zip(series.of, log.records["skb"], strict=True) if a}
    rows = found.rows[found.rows["verdict"] == EXACT]
    exact: dict[int, set[int]] = {}
    for packet, leg in zip(rows["packet"].tolist(), rows["leg"].tolist(), strict=True):
        address = skb[int(legs.rows["series"][leg])] & (1 << 64) - 1
        exact.setdefault(packet, set()).add(address)
    assert isinstance(found.clock, ClockFit)
    every = np.arange(len(packets))
    ts = np.ascontiguousarray(packets["ts"])
    at, error = found.clock.to_kernel(ts, every), found.clock.error(ts, every)
    return Stage(scenes, first, at.tolist(), error.tolist(), exact)


def originals(one: Scene) -> list[int]:
    """Return the packets of a scene without copies, which have another one's time and content."""
    first = {(sent.stamp, sent.looks): n for n, sent in reversed(list(enumerate(one.packets)))}
    return sorted(first.values())


def case_of(made: Stage, number: int) -> Case:
    """Return one scene as a case for the enumerator: moments of lives that the log has here."""
    one, first = made.scenes[number], made.first[number]
    asked = originals(one)
    mine = [first + n for n in asked]
    lives = [n for n, life in enumerate(one.lives) if life.here and not life.lost]
    shown = [one.lives[n] for n in lives]
    at, error = [made.at[p] for p in mine], [made.error[p] for p in mine]
    lack = [
        any(a - e <= end and a + e >= begin - LONGEST for begin, end, _ in one.gaps)
        for a, e in zip(at, error, strict=True)
    ]
    return Case(
        at,
        error,
        lack,
        lives,
        [life.arrival for life in shown],
        [life.end for life in shown],
        [life.begin for life in shown],
        [life.end for life in shown],
        [
            [m for m, life in enumerate(shown) if alike(one.packets[n].looks, life.looks)]
            for n in asked
        ],
    )


def _anchor(story: Story, n: int, lasting: int, out: bool, rng: Random) -> build.Packet:
    """Return a packet with a number of its own, received for certain."""
    begin = (n + 1) * APART + rng.randint(0, 5000)
    arrival = begin - rng.choice([15, 100])
    end, skb = begin + lasting, A + 0x1000 * (n if n < ANCHORS else 1_000_000 + n)
    life = Life(skb, arrival, begin, end, (n, 0), True, False, out)
    _live(story, 0, 0, life)
    return rng.randint(life.arrival, life.end), _frame(0, life.looks)


def _hosts(number: int) -> tuple[str, str]:
    return f"10.{number // 250}.{number % 250}.1", "10.255.0.2"


def _live(story: Story, number: int, cpu: int, life: Life) -> None:
    """The records of a lifetime, if they were not lost."""
    if life.lost:
        return
    source, target = _hosts(number)
    known, port = int(life.looks[1] is not None), 1000 + (life.looks[1] or 0)
    ip_id = life.looks[0] or 0
    ip = Ipv4(source, target, ip_id, 17, port * known, 2000 * known, tot_len=38, l4_valid=known)
    info = HOST if life.here else OTHER
    place = {"cpu": cpu, "context": SOFTIRQ}
    story.alloc(life.arrival - 100, life.skb, **place)
    if life.sends:
        _sends(story, cpu, life, ip)
        return
    story.enter(life.arrival, "netif_receive_skb", life.skb, skbinfo=info, ipv4=ip, **place)
    story.call("tpacket_rcv", life.begin, life.end, life.skb, skbinfo=info, ipv4=ip, **place)
    story.leave(life.end + 20, "netif_receive_skb", life.skb, **place)
    story.free(life.end + 50, life.skb, **place)


def _sends(story: Story, cpu: int, life: Life, ip: Ipv4) -> None:
    """The records of a packet that is sent, whose clone the packet socket gets."""
    info, clone = HOST if life.here else OTHER, life.skb + 0x800
    place = {"cpu": cpu, "context": SOFTIRQ}
    story.enter(life.arrival, "dev_hard_start_xmit", life.skb, skbinfo=info, ipv4=ip, **place)
    story.clone(life.arrival + 1, life.skb, clone, "dev_queue_xmit_nit", **place)
    story.call("tpacket_rcv", life.begin, life.end, clone, skbinfo=info, ipv4=ip, **place)
    story.free(life.end + 5, clone, **place)
    story.leave(life.end + 20, "dev_hard_start_xmit", life.skb, **place)
    story.free(life.end + 50, life.skb, **place)


def _frame(number: int, looks: Header) -> bytes:
    source, target = _hosts(number)
    payload = build.udp(1000 + (looks[1] or 0), 2000, bytes(10))
    return build.ethernet(build.ipv4(source, target, 17, payload, looks[0] or 0, 0x4000))

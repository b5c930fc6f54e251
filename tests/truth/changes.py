# SPDX-License-Identifier: MIT
"""Changes of a capture that can follow each other, each with numbers that a seed chooses.

The clock of a changed capture is steady or set by 10 ms or more, as docs/matching.md assumes.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from .capture_files import SECOND
from .treatments import Packet

Change = Callable[[list[Packet], Random], list[Packet]]


def _at(packet: Packet, ts: int) -> Packet:
    return packet._replace(frame=packet.frame._replace(ts=ts))


def _cut(packet: Packet, size: int) -> Packet:
    return packet._replace(frame=packet.frame._replace(data=packet.frame.data[:size]))


def part(given: list[Packet], rng: Random) -> list[Packet]:
    """Leave one stretch, of 5 packets at least."""
    size = min(len(given), max(5, round(len(given) * rng.random() ** 2)))
    first = rng.randrange(len(given) - size + 1)
    return given[first : first + size]


def holes(given: list[Packet], rng: Random) -> list[Packet]:
    """Remove some stretches."""
    left = given
    for _ in range(rng.randint(1, 5)):
        size = round(len(left) * rng.random() * 0.3)
        first = rng.randrange(len(left) - size + 1)
        left = left[:first] + left[first + size :]
    return left


def thinned(given: list[Packet], rng: Random) -> list[Packet]:
    """Remove packets at random."""
    share = rng.choice((0.01, 0.1, 0.5, 0.9))
    return [p for p in given if rng.random() >= share] or given[:1]


def shortened(given: list[Packet], rng: Random) -> list[Packet]:
    """Cut all packets to one length."""
    size = rng.randint(30, 100)
    return [_cut(p, size) for p in given]


def shortened_apart(given: list[Packet], rng: Random) -> list[Packet]:
    """Cut each packet to a length of its own."""
    return [_cut(p, rng.randint(26, 90)) for p in given]


def coarse(given: list[Packet], rng: Random) -> list[Packet]:
    """Round the times down."""
    unit = rng.choice((1_000, 10_000, 100_000, 1_000_000, 10_000_000, SECOND))
    return [_at(p, p.frame.ts // unit * unit) for p in given]


def drifting(given: list[Packet], rng: Random) -> list[Packet]:
    """Let the clock drift steadily, by at most 950 ppm."""
    rate, begin = rng.randint(-950, 950), given[0].frame.ts
    return [_at(p, p.frame.ts + (p.frame.ts - begin) * rate // 1_000_000) for p in given]


def stepped(given: list[Packet], rng: Random) -> list[Packet]:
    """Set the clock up to four times, each time by 10 ms or more."""
    places = {rng.randrange(len(given)) for _ in range(rng.randint(1, 4))}
    made, ns = [], 0
    for number, p in enumerate(given):
        if number in places:
            ns += rng.choice((-1, 1)) * round(10 ** rng.uniform(7.05, 12))
        made.append(_at(p, p.frame.ts + ns))
    return made


def shifted(given: list[Packet], rng: Random) -> list[Packet]:
    """Set the whole clock."""
    ns = rng.choice((-1, 1)) * round(10 ** rng.uniform(4, 14))
    return [_at(p, p.frame.ts + ns) for p in given]


def some_twice(given: list[Packet], rng: Random) -> list[Packet]:
    """Repeat some packets, at once or a few packets later."""
    share, far = rng.choice((0.003, 0.03, 0.3)), rng.choice((0, 0, 3))
    placed = [(float(n), p) for n, p in enumerate(given)]
    placed += [(n + rng.random() * far, p) for n, p in placed if rng.random() < share]
    return [p for _, p in sorted(placed, key=lambda one: one[0])]


def one_flow(given: list[Packet], rng: Random) -> list[Packet]:
    """Leave packets like one of them, by protocol or by addresses too."""
    end = rng.choice((24, 34))
    like = rng.choice(given).frame.data[23:end]
    return [p for p in given if p.frame.data[23:end] == like]


def alike(given: list[Packet], rng: Random) -> list[Packet]:
    """Keep the packets whose headers occur more than once, and few of the others."""
    count: dict[bytes, int] = {}
    for p in given:
        count[p.frame.data[14:42]] = count.get(p.frame.data[14:42], 0) + 1
    few = rng.choice((0, 0.02))
    return [p for p in given if count[p.frame.data[14:42]] > 1 or rng.random() < few] or given


def turned(given: list[Packet], rng: Random) -> list[Packet]:
    """Put the second part before the first, as files appended in the wrong order."""
    place = rng.randrange(len(given))
    return given[place:] + given[:place]


def in_order(given: list[Packet], _: Random) -> list[Packet]:
    """Sort by time."""
    return sorted(given, key=lambda p: p.frame.ts)


def cut_in_headers(given: list[Packet], rng: Random) -> list[Packet]:
    """Cut each packet inside its transport header."""
    return [_cut(p, rng.choice((34, 36, 38, 40, 42, 44, 46, 54, 58))) for p in given]


CHANGES: dict[str, Change] = {
    change.__name__: change
    for change in (
        part,
        holes,
        thinned,
        shortened,
        shortened_apart,
        coarse,
        drifting,
        stepped,
        shifted,
        some_twice,
        one_flow,
        alike,
        turned,
        in_order,
        cut_in_headers,
    )
}

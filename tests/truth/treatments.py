# SPDX-License-Identifier: MIT
"""Treatments of finished captures and logs: cutting, thinning, merging, shifting.

A treatment makes packets of packets and keeps of each which recorded one it was, so that the judge
knows its truth.  Packets and chunks are chosen by a seed: a treatment of one recording is always
the same.
"""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .capture_files import SECOND, Frame, read_capture, write_pcap, write_pcapng

NS, US, SEVERAL = "pcap", "pcap of us", "pcapng of several interfaces"


class Packet(NamedTuple):
    """A packet of a treated capture.  `capture`: the recorded one it is of, "" = of no capture of
    this recording; `number`: which packet of that, from 0."""

    frame: Frame
    capture: str
    number: int


class Treated(NamedTuple):
    """What a treatment makes."""

    packets: list[Packet]
    form: str = NS


class Recorded(NamedTuple):
    """The input of treatments: a capture, the recording's others, and one of another boot."""

    name: str
    packets: list[Packet]
    others: dict[str, list[Packet]]
    foreign: list[Frame]


Treatment = Callable[[Recorded], Treated | None]  # None: this recording has not what it takes


def _cut(first: float, last: float) -> Treatment:
    """Leave out these shares of the beginning and of the end."""

    def treat(given: Recorded) -> Treated:
        size = len(given.packets)
        return Treated(given.packets[round(size * first) : size - round(size * last)])

    return treat


def _hole(given: Recorded) -> Treated:
    third = len(given.packets) // 3
    return Treated(given.packets[:third] + given.packets[2 * third :])


def _snaplen(size: int) -> Treatment:
    def treat(given: Recorded) -> Treated:
        cut = [p._replace(frame=p.frame._replace(data=p.frame.data[:size])) for p in given.packets]
        return Treated(cut)

    return treat


def _with(packet: Packet, **changes: Any) -> Packet:
    return packet._replace(frame=packet.frame._replace(**changes))


def _microseconds(given: Recorded) -> Treated:
    return Treated(given.packets, US)


def _thinned(share: float) -> Treatment:
    def treat(given: Recorded) -> Treated:
        rng = random.Random(f"{given.name} {share}")
        return Treated([p for p in given.packets if rng.random() >= share])

    return treat


def _every(step: int) -> Treatment:
    """Return a treatment that duplicates each `step`-th packet."""

    def treat(given: Recorded) -> Treated:
        copies = (1 + (n % step == 0) for n in range(len(given.packets)))
        return Treated([p for p, n in zip(given.packets, copies, strict=True) for _ in range(n)])

    return treat


def _clock(change: Callable[[int, float], int]) -> Treatment:
    """Return a treatment with another clock.

    `change` gets ns since the first packet, and the packet's place from 0 to 1; it returns ns.
    """

    def treat(given: Recorded) -> Treated:
        begin, size = given.packets[0].frame.ts, len(given.packets)
        return Treated([
            _with(p, ts=p.frame.ts + change(p.frame.ts - begin, n / size))
            for n, p in enumerate(given.packets)
        ])  # fmt: skip

    return treat


def _step(_: int, place: float) -> int:
    return 5 * SECOND if 1 / 3 <= place < 2 / 3 else 0


def _merged(given: Recorded) -> Treated | None:
    """Return the capture merged with another one, as by mergecap: by time, with one interface."""
    link = given.packets[0].frame.link
    for packets in given.others.values():
        if packets and packets[0].frame.link == link:
            both = sorted(given.packets + packets, key=lambda p: p.frame.ts)
            return Treated(both)
    return None


def _interfaces(given: Recorded) -> Treated | None:
    """All captures of the recording in one pcapng; the clock of each other one is another."""
    if not given.others:
        return None
    packets = list(given.packets)
    for number, other in enumerate(given.others.values(), start=1):
        apart = 7 * SECOND * (number % 2)
        packets += [_with(p, ts=p.frame.ts + apart, interface=number) for p in other]
    return Treated(sorted(packets, key=lambda p: p.frame.ts), SEVERAL)


def _foreign(given: Recorded) -> Treated | None:
    """Return the capture of another boot, at the time of this one."""
    if not given.foreign:
        return None
    apart = given.packets[0].frame.ts - given.foreign[0].ts
    return Treated([Packet(f._replace(ts=f.ts + apart), "", -1) for f in given.foreign])


def _as_recorded(given: Recorded) -> Treated:
    return Treated(given.packets)


TREATMENTS: dict[str, Treatment] = {
    "none": _as_recorded,
    **{f"first {share} % cut": _cut(share / 100, 0) for share in (10, 30, 60, 85)},
    **{f"last {share} % cut": _cut(0, share / 100) for share in (10, 30, 60, 85)},
    "hole": _hole,
    **{f"snaplen {size}": _snaplen(size) for size in (34, 48, 60, 68, 96, 128)},
    "microseconds": _microseconds,
    "interfaces": _interfaces,
    **{f"{share} % removed": _thinned(share / 100) for share in (10, 30, 60)},
    "merged": _merged,
    "every packet twice": _every(1),
    "every 10th twice": _every(10),
    "+2 s": _clock(lambda ns, place: 2 * SECOND),
    "-3 h": _clock(lambda ns, place: -3 * 3600 * SECOND),
    "200 ppm": _clock(lambda ns, place: ns * 200 // 1_000_000),
    "stepped 5 s and back": _clock(_step),
    "foreign": _foreign,
}


def packets_of(path: Path, name: str) -> list[Packet]:
    """Return a recorded capture."""
    return [Packet(frame, name, number) for number, frame in enumerate(read_capture(path))]


def write_treated(treated: Treated, path: Path) -> None:
    """Write the capture, and beside it `<name>.origin.json`: of each packet the recorded capture
    and its number there, number -1 of a foreign one."""
    frames = [packet.frame for packet in treated.packets]
    if treated.form == SEVERAL:
        count = max((frame.interface for frame in frames), default=0) + 1
        write_pcapng(path, frames, [f"if{n}" for n in range(count)])
    else:
        write_pcap(path, frames, 1000 if treated.form == US else 1)
    names = sorted({packet.capture for packet in treated.packets})
    rows = [[names.index(p.capture), p.number, p.frame.interface] for p in treated.packets]
    origin = path.with_name(path.name + ".origin.json")
    origin.write_text(json.dumps({"captures": names, "packets": rows}))


# A log: chunks of records are lost as a whole, docs/kbl-format.md.
FILE_HEAD, CHUNK_MAGIC, RECORDS = "<IHH", 0x4B434E4B, 1
CHUNK = struct.Struct("<IHHQQQIIII")
LOG_SHARES = (1, 3, 10, 30)


def chunks_of(data: bytes) -> tuple[int, list[tuple[int, int, int]]]:
    """Return the position of a log's first chunk, and (begin, end, kind) of each chunk.

    Raises ValueError if it is not a log of this byte order, or if a chunk's header is damaged.
    """
    _, _, at = struct.unpack_from(FILE_HEAD, data)
    first, found = at, []
    while at + CHUNK.size <= len(data):
        head = CHUNK.unpack_from(data, at)
        crc = zlib.crc32(data[at : at + CHUNK.size - 4])
        if head[0] != CHUNK_MAGIC or head[-1] != crc:
            raise ValueError(f"no chunk at {at}")
        end = at + CHUNK.size + head[7]
        found.append((at, end, head[1]))
        at = end
    return first, found


def without_chunks(log: Path, out: Path, share: float, seed: int) -> int:
    """A log that lacks this share of its chunks of records, one at least; returns how many."""
    data = log.read_bytes()
    first, chunks = chunks_of(data)
    records = [n for n, chunk in enumerate(chunks) if chunk[2] == RECORDS]
    gone = set(random.Random(seed).sample(records, max(1, round(len(records) * share))))
    kept = (data[begin:end] for n, (begin, end, _) in enumerate(chunks) if n not in gone)
    out.write_bytes(data[:first] + b"".join(kept))
    return len(gone)

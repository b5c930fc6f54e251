# SPDX-License-Identifier: MIT
"""A retis log beside a capture that has only some of its packets; names are hostile."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, NamedTuple

from skbviewer.session import Session, import_files
from tests.readers import build_retis as retis
from tests.readers.build import ethernet, ipv4, udp, write_pcap

STEP, LATER = 1_000_000, 50
BEGIN = retis.MONO_NS + retis.AHEAD_S * 10**9 + 250  # the clock's zero of events, wall clock, ns
CAPTURED, HIDDEN = 8, 4  # packets in the capture; packets that only the log has
COMM = "x] 1 [tp] f"
DEVICE = "a)\nskbviewer:kbl/2 kbl cpu=9"
SYMBOL = "net:rcv drop_reason=FORGED,x"
FRAMES = [
    ethernet(ipv4("10.9.0.1", "10.9.0.2", 17, udp(5000, 53, bytes(9 + n)), ip_id=100 + n))
    for n in range(CAPTURED + HIDDEN)
]


class Block(NamedTuple):
    """A packet block: its interface's options, time (ns), lengths, bytes and options."""

    interface: dict[int, bytes]
    ts: int
    length: int
    data: bytes
    options: list[tuple[int, bytes]]


def events() -> list[Any]:
    made: list[Any] = [retis.startup()]
    for n, frame in enumerate(FRAMES):
        at = (n + 1) * STEP
        made.append(retis.point(at, SYMBOL, at, device=(DEVICE, 3)))
        seen = retis.point(at + 400, retis.RECEIVE, at, frame, device=(DEVICE, 3))
        seen["common"]["task"]["comm"] = COMM
        seen["packet"]["len"] += 1000
        made.append(seen | {"ct": {"state": "new", "orig": "10.9.0.1"}})
        made.append(retis.point(at + 800, SYMBOL, at, frame, type_="kprobe", drop="A=B c"))
    made.append(retis.point(40 * STEP, retis.RECEIVE, 40 * STEP))  # a lifetime without bytes
    return made


def session_of(folder: Path, log: list[Any] | None = None) -> Session:
    """Return the log, imported with a capture of the first packets."""
    path = retis.write(folder / "retis.data", events() if log is None else log)
    packets = [(BEGIN + (n + 1) * STEP + LATER, f) for n, f in enumerate(FRAMES[:CAPTURED])]
    capture = write_pcap(folder / "a.pcap", packets)
    import_files([path, capture], folder / "s.skbv")
    return Session.open(folder / "s.skbv")


def _options(body: bytes, at: int) -> list[tuple[int, bytes]]:
    found = []
    while at + 4 <= len(body):
        code, size = struct.unpack_from("<HH", body, at)
        if not code:
            break
        found.append((code, body[at + 4 : at + 4 + size]))
        at += 4 + size + -size % 4
    return found


def blocks(path: Path) -> tuple[list[tuple[int, bytes]], list[Block]]:
    """Return all blocks of a pcapng file as (kind, body), and its packets."""
    raw, at, every, interfaces, packets = path.read_bytes(), 0, [], [], []
    while at < len(raw):
        kind, size = struct.unpack_from("<II", raw, at)
        body = raw[at + 8 : at + size - 4]
        assert raw[at + size - 4 : at + size] == struct.pack("<I", size)
        every.append((kind, body))
        if kind == 1:
            interfaces.append(dict(_options(body, 8)))
        elif kind == 6:
            number, high, low, kept, length = struct.unpack_from("<5I", body)
            options = _options(body, 20 + kept + -kept % 4)
            data = body[20 : 20 + kept]
            packets.append(Block(interfaces[number], high << 32 | low, length, data, options))
        at += size
    return every, packets

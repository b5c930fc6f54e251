# SPDX-License-Identifier: MIT
"""Capture files read and written for the judge and the treatments: pcap, pcapng, both byte orders.

It shares no code with the product: what the product misreads must not be misread here as well.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

SECOND = 1_000_000_000
PCAP = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}  # magic: ns a unit of the fraction
SECTION, INTERFACE, ENHANCED = 0x0A0D0D0A, 1, 6
BYTE_ORDER = 0x1A2B3C4D


class Frame(NamedTuple):
    """One packet of a capture; `ts` in ns since the epoch."""

    ts: int
    data: bytes  # what was captured
    length: int  # what it was on the wire
    link: int  # LINKTYPE_* of its interface
    interface: int = 0  # number of its interface in the file


def read_capture(path: Path) -> list[Frame]:
    """Return all packets of a file, in its order; a file cut short ends at its last whole packet.

    Raises ValueError if it is neither pcap nor pcapng.
    """
    data = path.read_bytes()
    for order in "<>":
        if len(data) < 24:
            break
        magic = struct.unpack_from(order + "I", data)[0]
        if magic in PCAP:
            return _pcap(data, order, PCAP[magic])
        if magic == SECTION and struct.unpack_from(order + "I", data, 8)[0] == BYTE_ORDER:
            return _pcapng(data, order)
    raise ValueError(f"{path} is no capture")


def _pcap(data: bytes, order: str, unit: int) -> list[Frame]:
    link = struct.unpack_from(order + "I", data, 20)[0] & 0xFFFF
    frames, at, head = [], 24, struct.Struct(order + "IIII")
    while at + 16 <= len(data):
        second, part, kept, length = head.unpack_from(data, at)
        if at + 16 + kept > len(data):
            break
        ts = second * SECOND + part * unit
        frames.append(Frame(ts, data[at + 16 : at + 16 + kept], length, link))
        at += 16 + kept
    return frames


def _resolution(options: bytes, order: str) -> int:
    """Return units a second."""
    at = 0
    while at + 4 <= len(options):
        code, size = struct.unpack_from(order + "HH", options, at)
        if code == 9 and size:
            value = options[at + 4]
            return int(2 ** (value & 0x7F) if value & 0x80 else 10**value)
        if code == 0:
            break
        at += 4 + (size + 3) // 4 * 4
    return 1_000_000


def _pcapng(data: bytes, order: str) -> list[Frame]:
    frames: list[Frame] = []
    links: list[tuple[int, int]] = []  # LINKTYPE, units a second
    at = 0
    while at + 12 <= len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        if size < 12 or at + size > len(data):
            break
        body = data[at + 8 : at + size - 4]
        if kind == INTERFACE:
            link = struct.unpack_from(order + "H", body)[0]
            links.append((link, _resolution(body[8:], order)))
        elif kind == ENHANCED:
            number, high, low, kept, length = struct.unpack_from(order + "IIIII", body)
            ts = ((high << 32) | low) * SECOND // links[number][1]
            frames.append(Frame(ts, body[20 : 20 + kept], length, links[number][0], number))
        at += size
    return frames


def write_pcap(path: Path, frames: list[Frame], unit: int = 1) -> None:
    """Write a little-endian pcap whose times have `unit` ns (1 or 1000); raises ValueError if the
    packets are of several link types."""
    links = {frame.link for frame in frames} or {1}
    if len(links) != 1:
        raise ValueError("one pcap holds one link type")
    magic = next(magic for magic, ns in PCAP.items() if ns == unit)
    parts = [struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 262144, links.pop())]
    for frame in frames:
        second, ns = divmod(frame.ts, SECOND)
        parts.append(struct.pack("<IIII", second, ns // unit, len(frame.data), frame.length))
        parts.append(frame.data)
    path.write_bytes(b"".join(parts))


def _block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


def write_pcapng(path: Path, frames: list[Frame], names: list[str]) -> None:
    """Write a pcapng of ns times; an interface's name and link type are those of its packets."""
    parts = [_block(SECTION, struct.pack("<IHHq", BYTE_ORDER, 1, 0, -1))]
    for number, name in enumerate(names):
        link = next((f.link for f in frames if f.interface == number), 1)
        text = name.encode()
        options = struct.pack("<HH", 2, len(text)) + text + bytes(-len(text) % 4)
        options += struct.pack("<HHB3x", 9, 1, 9) + struct.pack("<HH", 0, 0)
        parts.append(_block(INTERFACE, struct.pack("<HHI", link, 0, 0) + options))
    for frame in frames:
        high, low = frame.ts >> 32, frame.ts & 0xFFFFFFFF
        head = struct.pack("<IIIII", frame.interface, high, low, len(frame.data), frame.length)
        parts.append(_block(ENHANCED, head + frame.data))
    path.write_bytes(b"".join(parts))

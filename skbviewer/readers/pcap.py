# SPDX-License-Identifier: MIT
"""Reads classic pcap files: every byte order, micro- and nanoseconds.

Layout: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcap/.  A damaged file is read up to the
damage, with a warning that names the place.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..records import BadInput, Capture, Interface, Progress
from ..records.compiled import Int, compiled
from .dissect import dissect
from .source import WINDOW, Source
from .wire import Block, Bytes, Ints, word

FILE_HEADER_SIZE = 24
MAX_CAPLEN = 262144  # libpcap's MAXIMUM_SNAPLEN
LINKTYPE_MASK = 0xFFFF  # the upper bits tell about frame check sequences


class _Format(NamedTuple):
    order: str
    unit_ns: int
    record_size: int  # of the header before each packet


FORMATS = {
    struct.pack(order + "I", magic): _Format(order, unit_ns, record_size)
    for order in "<>"
    for magic, unit_ns, record_size in (
        (0xA1B2C3D4, 1000, 16),
        (0xA1B23C4D, 1, 16),
        (0xA1B2CD34, 1000, 24),  # Kuznetzov's patched libpcap of the 1990s
    )
}


def read_pcap(data: Source, progress: Progress, folder: Path | None) -> Capture:
    """Read a pcap file.

    Raises BadInput if the file header is not whole or of an unknown version.
    """
    path, layout = data.path, FORMATS[bytes(data.read(0, 4))]
    if len(data) < FILE_HEADER_SIZE:
        raise BadInput(path, len(data), "cut in the middle of the pcap file header")
    raw = bytes(data.read(4, FILE_HEADER_SIZE))
    major, minor, _, _, snaplen, network = struct.unpack(layout.order + "HHiIII", raw)
    if major != 2:
        raise BadInput(path, 4, f"pcap version {major}.{minor} is not known")
    places, warnings = _walk(data, layout, snaplen, progress)
    interface = Interface(network & LINKTYPE_MASK, "", snaplen)
    # Before version 2.3 the lengths stood the other way round.
    names = ("len", "caplen") if (major, minor) < (2, 3) else ("caplen", "len")

    def fill(packets: Block, first: int, some: Bytes, begin: int) -> None:
        packets["interface"], packets["linktype"] = 0, interface.linktype
        _fill(
            some,
            begin,
            layout.order == "<",
            layout.unit_ns,
            layout.record_size,
            places[first : first + len(packets)],
            packets.blank("ts"),
            packets.blank("offset"),
            packets.blank(names[0]),
            packets.blank(names[1]),
        )

    packets, unknown = dissect(data, places[:-1], places[1:], fill, progress, folder)
    return Capture(path, "pcap", packets, (interface,), tuple(warnings + unknown))


def _walk(
    data: Source, layout: _Format, snaplen: int, progress: Progress
) -> tuple[Ints, list[str]]:
    """Where each whole packet's header begins and the last one ends; what was wrong after it."""
    limit = max(MAX_CAPLEN, snaplen if snaplen < 1 << 27 else 0)
    size, header, little = len(data), layout.record_size, layout.order == "<"
    found, room = [np.zeros(0, np.int64)], np.empty(WINDOW // header + 1, np.int64)
    at, caplen, number = FILE_HEADER_SIZE, -1, 1
    while caplen < 0 and at + header <= size:
        progress.report(f"reading {data.path.name}", at, size)
        some = data.some(at, header, WINDOW)
        found_here = _walk_some(some, at, size, header, limit, little, room)
        count, at, caplen = map(int, found_here)
        found.append(room[:count].copy())
        number += count
    places = np.concatenate([*found, [at]])
    if at == size:
        return places, []
    return places, [_damage(data.path, size, at, number, at + header, caplen, limit)]


@compiled
def _walk_some(
    some: Bytes, begin: int, size: int, header: int, limit: int, little: bool, places: Ints
) -> tuple[Int, Int, Int]:
    """Walk packet headers in `some` bytes, those from `begin` on, of a file of `size` bytes.

    Returns how many `places` it filled, where it ended, and there the captured length that cannot
    be true or passes the end, else -1.
    """
    at, count = np.int64(0), np.int64(0)
    while at + header <= len(some) and count < len(places):
        caplen = word(some, at + 8, little)
        if caplen > limit or begin + at + header + caplen > size:
            return count, begin + at, caplen
        places[count] = begin + at
        count += 1
        at += header + caplen
    return count, begin + at, np.int64(-1)


@compiled
def _fill(
    some: Bytes,
    begin: int,
    little: bool,
    unit_ns: int,
    header: int,
    places: Ints,
    ts: Ints,
    offset: Ints,
    caplen: Ints,
    length: Ints,
) -> None:
    """What the headers at some places tell; `some` bytes, those from `begin` on, hold them."""
    for i in range(len(places)):
        at = places[i] - begin
        ts[i] = word(some, at, little) * 1_000_000_000 + word(some, at + 4, little) * unit_ns
        caplen[i], length[i] = word(some, at + 8, little), word(some, at + 12, little)
        offset[i] = places[i] + header


def _damage(
    path: Path, size: int, at: int, number: int, begin: int, caplen: int, limit: int
) -> str:
    if caplen > limit:
        why = f"packet {number} claims {caplen} captured bytes; nothing after this place is read"
    elif begin > size:
        why = f"cut in the middle of packet {number}, in its header"
    else:
        why = f"cut in the middle of packet {number}, {begin + caplen - size} bytes are missing"
    return f"{path} at byte {at}: {why}"

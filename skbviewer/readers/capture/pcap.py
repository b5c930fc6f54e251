# SPDX-License-Identifier: MIT
"""Read classic pcap files of either byte order, with time stamps in micro- or nanoseconds.

Layout: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcap/.  A damaged file is read up to the
damage; a warning contains the position of the damage.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...records import BadInput, Capture, Interface, Progress, SourceKind, counted
from ...records.types import Int64s, UInt8s
from ..input_file import WINDOW, Source
from ..numbers_in_bytes import Block
from .header_columns import dissect
from .pcap_loops import FIRST, SECOND, SMALLER, fill_headers, walk_some

FILE_HEADER_SIZE = 24
MAX_CAPLEN = 262144  # libpcap's MAXIMUM_SNAPLEN
LINKTYPE_MASK = 0xFFFF  # the upper bits describe the frame check sequence
DG_UX = 543  # major version in files of DG/UX's tcpdump, whose lengths are as in version 2.2


class _Format(NamedTuple):
    order: str
    unit_ns: int
    record_size: int  # bytes of the header before each packet


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
    """Read the pcap file `data`.

    A large table of packets is stored in a nameless file in `folder`.  Raises BadInput if the file
    header is truncated or its version is unknown; raises Cancelled.
    """
    path, layout = data.path, FORMATS[bytes(data.read(0, 4))]
    if len(data) < FILE_HEADER_SIZE:
        raise BadInput(path, len(data), "the file ends in the middle of the pcap file header")
    raw = bytes(data.read(4, FILE_HEADER_SIZE))
    major, minor, _, _, snaplen, network = struct.unpack(layout.order + "HHiIII", raw)
    if major not in (2, DG_UX):
        raise BadInput(path, 4, f"pcap version {major}.{minor} is not known")
    captured = _captured(major, minor)
    places, warnings = _walk(data, layout, captured, snaplen, progress)
    interface = Interface(network & LINKTYPE_MASK, "", snaplen)

    def fill(packets: Block, first: int, some: UInt8s, begin: int) -> None:
        packets["interface"], packets["linktype"] = 0, interface.linktype
        fill_headers(
            some,
            begin,
            layout.order == "<",
            layout.unit_ns,
            layout.record_size,
            captured,
            places[first : first + len(packets)],
            packets.blank("ts"),
            packets.blank("offset"),
            packets.blank("caplen"),
            packets.blank("len"),
        )

    packets, unknown = dissect(data, places[:-1], places[1:], fill, progress, folder)
    return Capture(path, SourceKind.PCAP, packets, (interface,), tuple(warnings + unknown))


def pcap_interface(data: Source) -> Interface:
    """Return the interface that a pcap file's header describes.

    Raises BadInput if the header is truncated.
    """
    layout = FORMATS[bytes(data.read(0, 4))]
    if len(data) < FILE_HEADER_SIZE:
        raise BadInput(data.path, len(data), "the file ends in the middle of the pcap file header")
    snaplen, network = struct.unpack(layout.order + "II", bytes(data.read(16, FILE_HEADER_SIZE)))
    return Interface(network & LINKTYPE_MASK, "", snaplen)


def _captured(major: int, minor: int) -> int:
    """Return which of a record's two lengths is the captured one, as a code of pcap_loops.py.

    Before version 2.3, the captured length is the second of the two lengths; in version 2.3, it is
    the smaller one.
    """
    if major == DG_UX or minor < 3:
        return SECOND
    return SMALLER if minor == 3 else FIRST


def _walk(
    data: Source, layout: _Format, captured: int, snaplen: int, progress: Progress
) -> tuple[Int64s, list[str]]:
    """Return the positions of the headers of all whole packets and of their end, and warnings.

    A warning says why the rest of the file is not read.
    """
    limit = max(MAX_CAPLEN, snaplen if snaplen < 1 << 27 else 0)
    size, header, little = len(data), layout.record_size, layout.order == "<"
    found, scratch = [np.zeros(0, np.int64)], np.empty(WINDOW // header + 1, np.int64)
    at, caplen, number = FILE_HEADER_SIZE, -1, 1
    while caplen < 0 and at + header <= size:
        progress.report(f"reading {data.path.name}", at, size)
        some = data.read_at_least(at, header, WINDOW)
        found_here = walk_some(some, at, size, header, captured, limit, little, scratch)
        count, at, caplen = map(int, found_here)
        found.append(scratch[:count].copy())
        number += count
    places = np.concatenate([*found, [at]])
    if at == size:
        return places, []
    return places, [_damage(data.path, size, at, number, at + header, caplen, limit)]


def _damage(
    path: Path, size: int, at: int, number: int, begin: int, caplen: int, limit: int
) -> str:
    if caplen > limit:
        why = (
            f"packet {number} claims to have {caplen} captured bytes; the rest of the file is not "
            "read"
        )
    elif begin > size:
        why = f"the file ends in the middle of the header of packet {number}"
    else:
        why = f"the file ends in the middle of packet {number}, {_missing(begin + caplen - size)}"
    return f"{path} at byte {at}: {why}"


def _missing(count: int) -> str:
    return f"{counted(count, 'byte')} {'is' if count == 1 else 'are'} missing"

# SPDX-License-Identifier: MIT
"""Packets as a classic pcap file: bytes and times alone, for programs that read no more.

Times are in ns.  A pcap file has one link type, so all packets must have the same.
Format: https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcap/
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...analysis.fields.field_data import PACKET, Data
from ...analysis.words.link_names import link_name
from ...records import UNTIMED, BadInput
from ...records.compiled import compiled
from ...records.types import Int64s, UInt8s
from ..chosen_packets import Places, chosen_packets, packet_places, parts
from ..formats import Exportable, Request
from ..pseudonyms import Pseudonyms
from ..pseudonyms.packets import with_pseudonyms
from ..written_whole import write_parts
from .byte_copies import copy_exactly

MAGIC_NS, MAJOR, MINOR = 0xA1B23C4D, 2, 4
ANY_LENGTH, ETHERNET = 262_144, 1  # tcpdump's snap length; the link type of a file without packets
HEADER, SECOND = 16, 10**9
LAST_NS = (1 << 32) * SECOND  # seconds are unsigned numbers of 32 bits


def write_pcap(recording: Exportable, request: Request, out: Path) -> None:
    """Write the packets that `request` names, in order of time.

    Raises KeyError if there is no such packet, FilterError, Cancelled, and BadInput if a capture or
    `out` cannot be used, or if a pcap file cannot hold the packets: they have several link types,
    or a time before 1970 or after 2105.
    """
    data = recording.export.field_data()
    packets = chosen_packets(recording, request)
    packets = packets[np.argsort(data.columns.take(PACKET, "ts", packets - 1), kind="stable")]
    linktype = _linktype(data, packets, out)
    snaplen = request.snaplen or ANY_LENGTH
    head = struct.pack("<IHHiIII", MAGIC_NS, MAJOR, MINOR, 0, 0, snaplen, linktype)
    write_parts(out, chain([head], _records(recording, data, request, packets, out)))


def _linktype(data: Data, packets: Int64s, out: Path) -> int:
    found = np.unique(data.columns.take(PACKET, "linktype", packets - 1)).tolist()
    if len(found) > 1:
        names = ", ".join(link_name(one) for one in found)
        why = f"a pcap file has one link type, the packets have {len(found)} ({names})"
        raise BadInput(out, None, f"{why}: choose with --filter, or use --pcapng")
    return int(found[0]) if found else ETHERNET


def _records(
    recording: Exportable, data: Data, request: Request, packets: Int64s, out: Path
) -> Iterator[UInt8s]:
    """Yield the packets, some at a time."""
    names = Pseudonyms(request.pseudonym_key) if request.pseudonym_key else None
    files: dict[int, UInt8s] = {}
    done = 0
    for some in parts(packets, data.columns.take(PACKET, "caplen", packets - 1)):
        request.progress.report("Writing packets", done, len(packets))
        done += len(some)
        of = data.columns.take(PACKET, "source", some - 1)
        every = []
        for source in np.unique(of).tolist():
            if source not in files:
                files[source] = recording.export.capture_bytes(source)
            at = np.flatnonzero(of == source)
            every.append((at, _Bytes.of(data, files[source], some[at], request, names)))
        yield _written(every, len(some), out)


class _Bytes(NamedTuple):
    """Packets of one capture: bytes, where the packets begin in them, and what is kept."""

    file: UInt8s
    offset: Int64s
    places: Places

    @classmethod
    def of(
        cls, data: Data, file: UInt8s, packets: Int64s, request: Request, names: Pseudonyms | None
    ) -> _Bytes:
        places = packet_places(data, file, packets, request)
        offset, caplen = places.offset, places.caplen
        if names is None:
            return cls(file, offset, places)
        copy, offset = np.empty(int(caplen.sum()), np.uint8), np.cumsum(caplen) - caplen
        _copy(file, places.offset, caplen, offset, copy)
        file = with_pseudonyms(copy, places.linktype, offset, caplen, places.length, names)
        return cls(file, offset, places)


def _written(every: list[tuple[Int64s, _Bytes]], count: int, out: Path) -> UInt8s:
    """Return the records of `count` packets, each at its index."""
    heads = np.zeros((count, HEADER // 4), "<u4")
    kept = np.zeros(count, np.int64)
    for at, one in every:
        ts = np.where(one.places.ts == UNTIMED, 0, one.places.ts)
        if int(ts.min()) < 0 or int(ts.max()) >= LAST_NS:
            why = "a pcap file holds times from 1970 to 2105, a packet has another one"
            raise BadInput(out, None, f"{why}: use --pcapng")
        kept[at] = one.places.kept
        heads[at] = np.stack([ts // SECOND, ts % SECOND, kept[at], one.places.length], 1)
    begin = np.cumsum(kept + HEADER) - kept  # of each packet's bytes
    made = np.empty(int(begin[-1] + kept[-1]), np.uint8)
    headers = np.ascontiguousarray(heads).view(np.uint8).ravel()
    each = np.arange(count, dtype=np.int64) * HEADER
    _copy(headers, each, np.full(count, HEADER), begin - HEADER, made)
    for at, one in every:
        _copy(one.file, one.offset, kept[at], begin[at], made)
    return made


@compiled
def _copy(data: UInt8s, offset: Int64s, size: Int64s, target: Int64s, out: UInt8s) -> None:
    for i in range(len(offset)):
        copy_exactly(data, offset[i], offset[i] + size[i], out, target[i])

# SPDX-License-Identifier: MIT
"""Packets as a classic pcap file: only bytes and times, for programs that do not read pcapng.

Times are in ns. A pcap file cannot mark packets whose bytes come from a log. A pcap file has one
link type, so all packets must be of that type. Format:
https://datatracker.ietf.org/doc/draft-ietf-opsawg-pcap/
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...analysis.fields.field_source_tables import PACKET, Data
from ...analysis.words.link_type_names import link_name
from ...records import UNTIMED, BadInput
from ...records.compiled import compiled
from ...records.types import Int64s, UInt8s
from ..atomic_write import write_parts
from ..chosen_packets import Places, chosen_packets, packet_places, parts
from ..formats import Exportable, Request
from ..packets_from_tracer_log import ETHERNET, LogPackets, log_packets
from ..pseudonyms import Pseudonyms
from ..pseudonyms.packets import with_pseudonyms
from .byte_copy_loops import copy_exactly

MAGIC_NS, MAJOR, MINOR = 0xA1B23C4D, 2, 4
ANY_LENGTH = 262_144  # tcpdump's snap length
HEADER, SECOND = 16, 10**9
LAST_NS = (1 << 32) * SECOND  # seconds are unsigned numbers of 32 bits


def write_pcap(recording: Exportable, request: Request, out: Path) -> None:
    """Write the packets that `request` names, in order of time.

    Raises FilterError, Cancelled, and KeyError if a packet does not exist or no log contains bytes.
    Raises BadInput if an input or `out` cannot be used, or if a pcap file cannot contain the
    packets: they have several link types, or a time before 1970 or after 2105.
    """
    data = recording.export.field_data()
    every = _Chosen.of(data, chosen_packets(recording, request), log_packets(recording, request))
    linktype = _linktype(every, out)
    snaplen = request.snaplen or ANY_LENGTH
    head = struct.pack("<IHHiIII", MAGIC_NS, MAJOR, MINOR, 0, 0, snaplen, linktype)
    write_parts(out, chain([head], _records(recording, data, request, every, out)))


class _Chosen(NamedTuple):
    """The packets of all captures, followed by packets whose bytes are only in logs.

    `source` is a capture's id, or -1 - n for log n of `logs`. `row` is the packet's number, or its
    position among the log's packets.
    """

    logs: list[LogPackets]
    source: Int64s
    row: Int64s
    ts: Int64s
    caplen: Int64s
    linktype: Int64s

    @classmethod
    def of(cls, data: Data, packets: Int64s, logs: list[LogPackets]) -> _Chosen:
        """Return all packets in order of time."""
        names = ("source", "ts", "caplen", "linktype")
        taken = (data.columns.take(PACKET, name, packets - 1).astype(np.int64) for name in names)
        source, ts, caplen, linktype = ([column] for column in taken)
        row = [packets]
        for number, log in enumerate(logs):
            count = len(log.number)
            source.append(np.full(count, -1 - number, np.int64))
            row.append(np.arange(count, dtype=np.int64))
            ts.append(log.ts)
            caplen.append(log.caplen)
            linktype.append(np.full(count, ETHERNET, np.int64))
        made = [np.concatenate(column) for column in (source, row, ts, caplen, linktype)]
        order = np.argsort(made[2], kind="stable")
        return cls(logs, *(column[order] for column in made))


def _linktype(every: _Chosen, out: Path) -> int:
    found = np.unique(every.linktype).tolist()
    if len(found) > 1:
        names = ", ".join(link_name(one) for one in found)
        why = f"a pcap file has one link type, but the packets have {len(found)} ({names})"
        raise BadInput(
            out, None, f"{why}: choose packets of one type with '--filter', or use '--pcapng'"
        )
    return int(found[0]) if found else ETHERNET


def _records(
    recording: Exportable, data: Data, request: Request, every: _Chosen, out: Path
) -> Iterator[UInt8s]:
    """Yield the packets in blocks."""
    names = Pseudonyms(request.pseudonym_key) if request.pseudonym_key else None
    files: dict[int, UInt8s] = {}
    total = len(every.row)
    done = 0
    for some in parts(np.arange(total), every.caplen):
        request.progress.report("Writing packets", done, total)
        done += len(some)
        of = every.source[some]
        made = []
        for source in np.unique(of).tolist():
            at = np.flatnonzero(of == source)
            rows = every.row[some[at]]
            if source < 0:
                log = every.logs[-1 - source]
                made.append((at, _Bytes.of(log.data, log.part(rows).places(request), names)))
                continue
            if source not in files:
                files[source] = recording.export.capture_bytes(source)
            places = packet_places(data, files[source], rows, request)
            made.append((at, _Bytes.of(files[source], places, names)))
        yield _written(made, len(some), out)


class _Bytes(NamedTuple):
    """Packets of one capture or log: bytes, offsets of the packets, kept bytes of each."""

    file: UInt8s
    offset: Int64s
    places: Places

    @classmethod
    def of(cls, file: UInt8s, places: Places, names: Pseudonyms | None) -> _Bytes:
        offset, caplen = places.offset, places.caplen
        if names is None:
            return cls(file, offset, places)
        copy, offset = np.empty(int(caplen.sum()), np.uint8), np.cumsum(caplen) - caplen
        _copy(file, places.offset, caplen, offset, copy)
        file = with_pseudonyms(copy, places.linktype, offset, caplen, places.length, names)
        return cls(file, offset, places)


def _written(every: list[tuple[Int64s, _Bytes]], count: int, out: Path) -> UInt8s:
    """Return the pcap records of `count` packets, each at the packet's index."""
    heads = np.zeros((count, HEADER // 4), "<u4")
    kept = np.zeros(count, np.int64)
    for at, one in every:
        ts = np.where(one.places.ts == UNTIMED, 0, one.places.ts)
        if int(ts.min()) < 0 or int(ts.max()) >= LAST_NS:
            why = (
                "a pcap file can contain only times from 1970 to 2105, but a packet's time is "
                "outside this range"
            )
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

# SPDX-License-Identifier: MIT
"""Packets as pcapng: their bytes, times, link types and comments, and one with the kernel's fields.

Each interface of each capture is one of the file, in import order, with times in ns.  Options of
the capture's packet blocks are kept: flags, drop count, queue, verdict, packet id, hash (unless the
packet is changed) and custom ones.  Other packets get an epb_packetid if their match is exact: it
is the number of their skb lifetime, so that two sightings of one skb have the same.  What a sniffer
dropped, and the queue and the verdict of a packet, no kernel log records.  With pseudonyms, the
comments and custom options of captures and the user's comments are left out: they can hold
anything.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ... import __version__
from ...analysis.fields.field_data import LEG, PACKET, Data
from ...readers import capture_interfaces
from ...records import UNTIMED, Interface, SourceKind
from ...records.types import Bools, Int64s, UInt8s
from ..chosen_packets import chosen_packets, packet_places, parts
from ..formats import Exportable, Request
from ..pseudonyms import Pseudonyms
from ..pseudonyms.packets import with_pseudonyms
from ..written_whole import write_parts
from .block_loops import HEADER, copy_blocks, options_sizes, write_blocks
from .byte_copies import Buffer
from .comment_format import LONGEST
from .comments import Comments, Texts, texts_of

SECTION_HEADER, INTERFACE, BYTE_ORDER_MAGIC = 0x0A0D0D0A, 1, 0x1A2B3C4D
OPT_END, SHB_USERAPPL, IF_NAME, IF_TSRESOL, IF_TSOFFSET = 0, 4, 2, 9, 14
NANOSECONDS, SECOND = 9, 10**9
EACH = 104  # bytes of a packet block besides its packet, comments and copied options, at most
EXACT = 0  # verdict


class _Source(NamedTuple):
    """One capture: its id, its first interface in the file, and its interfaces."""

    id: int
    first: int
    interfaces: tuple[Interface, ...]
    is_pcapng: bool
    tsoffset: int  # seconds; below 0 if a packet's time is before 1970


def write_pcapng(recording: Exportable, request: Request, out: Path) -> None:
    """Write the packets that `request` names.

    Raises KeyError if there is no such packet, FilterError, BadInput if a capture or `out` cannot
    be used, and Cancelled.
    """
    data = recording.export.field_data()
    packets = chosen_packets(recording, request)
    sources = _sources(recording, data)
    head = [_section(), *_interfaces(sources, request.snaplen)]
    write_parts(out, chain(head, _blocks(recording, data, request, packets, sources)))


def _sources(recording: Exportable, data: Data) -> list[_Source]:
    sources, first = [], 0
    of, ts = (data.columns.array(PACKET, name) for name in ("source", "ts"))
    for source in recording.sources():
        if source.kind.is_log:
            continue
        interfaces = capture_interfaces(Path(source.path))
        times = ts[of == source.id]
        earliest = int(times[times != UNTIMED].min(initial=0))
        is_pcapng = source.kind is SourceKind.PCAPNG
        sources.append(_Source(source.id, first, interfaces, is_pcapng, earliest // SECOND))
        first += len(interfaces)
    return sources


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


def _section() -> bytes:
    head = struct.pack("<IHHq", BYTE_ORDER_MAGIC, 1, 0, -1)
    program = _option(SHB_USERAPPL, f"skbviewer {__version__}".encode())
    return _block(SECTION_HEADER, head + program + _option(OPT_END, b""))


def _interfaces(sources: list[_Source], snaplen: int) -> Iterator[bytes]:
    for source in sources:
        for interface in source.interfaces:
            limit = min(interface.snaplen or snaplen, snaplen or interface.snaplen)
            head = struct.pack("<HHI", interface.linktype, 0, limit)
            name = _option(IF_NAME, interface.name.encode()) if interface.name else b""
            clock = _option(IF_TSRESOL, bytes([NANOSECONDS]))
            if source.tsoffset:
                clock += _option(IF_TSOFFSET, struct.pack("<q", source.tsoffset))
            yield _block(INTERFACE, head + name + clock + _option(OPT_END, b""))


def _blocks(
    recording: Exportable, data: Data, request: Request, packets: Int64s, sources: list[_Source]
) -> Iterator[UInt8s]:
    """Yield the packet blocks, some packets at a time, each until the next."""
    names = Pseudonyms(request.pseudonym_key) if request.pseudonym_key else None
    comments, notes = Comments(data, names), {} if names else data.comments()
    buffer = Buffer()
    series = _series(data)
    done = 0
    for source in sources:
        mine = packets[data.columns.take(PACKET, "source", packets - 1) == source.id]
        if not len(mine):
            continue
        file = recording.export.capture_bytes(source.id)
        for some in parts(mine, data.columns.take(PACKET, "caplen", mine - 1)):
            request.progress.report("Writing packets", done, len(packets))
            done += len(some)
            texts = (*comments.of(some), texts_of(_notes(notes, some)))
            ids = series[some - 1]
            yield _packet_blocks(data, file, source, some, ids, request, names, texts, buffer)


def _notes(notes: Mapping[int, str], packets: Int64s) -> list[bytes]:
    if not notes:
        return [b""] * len(packets)
    return [notes.get(n, "").encode()[:LONGEST] for n in packets.tolist()]


def _series(data: Data) -> Int64s:
    """The skb lifetime of each packet, -1 where the match is not exact."""
    series = np.full(data.columns.length(PACKET), -1, np.int64)
    exact = np.flatnonzero(data.columns.array("match", "verdict") == EXACT)
    leg = data.columns.take("match", "leg", exact).astype(np.int64)
    packet = data.columns.take("match", "packet", exact).astype(np.int64)
    series[packet - 1] = data.columns.take(LEG, "series", leg - 1)
    return series


def _packet_blocks(
    data: Data,
    file: UInt8s,
    source: _Source,
    packets: Int64s,
    series: Int64s,
    request: Request,
    names: Pseudonyms | None,
    texts: tuple[Texts, Texts, Texts],
    buffer: Buffer,
) -> UInt8s:
    of = packet_places(data, file, packets, request)
    offset, caplen, length, kept = of.offset, of.caplen, of.length, of.kept
    timed = of.ts != UNTIMED
    ticks = np.where(timed, of.ts - source.tsoffset * SECOND, 0)
    has_options = timed & source.is_pcapng  # simple packet blocks have neither time nor options
    copied = int(options_sizes(file, offset[has_options], caplen[has_options]))
    if names is not None:
        file, offset = _copied(file, has_options, offset, caplen, copied)
        file = with_pseudonyms(file, of.linktype, offset, caplen, length, names)
    size = EACH * len(packets) + int(kept.sum()) + copied
    out = buffer.of(size + 2 * sum(int(text.ends[-1]) for text in texts))
    end = write_blocks(
        file, has_options, offset, caplen, kept, length, source.first + of.interface, ticks,
        series, *texts[0], *texts[1], *texts[2], names is None, out,
    )  # fmt: skip
    return out[: int(end)]


def _copied(
    file: UInt8s, has_options: Bools, offset: Int64s, caplen: Int64s, options: int
) -> tuple[UInt8s, Int64s]:
    """Return a copy of packets and their blocks, and where the packets are in it."""
    size = int(caplen.sum()) + options + (HEADER + 3) * len(offset)
    copy, places = np.zeros(size, np.uint8), np.empty(len(offset), np.int64)
    copy_blocks(file, has_options, offset, caplen, copy, places)
    return copy, places

# SPDX-License-Identifier: MIT
"""Packets as pcapng: bytes, times, link types, comments, and comments with the kernel's fields.

The file has one interface for each interface of each capture, in import order, with times in ns.
Comments of captures and of their interfaces are kept; the section has the comments of all captures.
Options of the captures' packet blocks are kept: flags, drop count, queue, verdict, packet id, hash
(unless the packet is changed) and custom options. A packet without an epb_packetid gets one if its
match is exact: the number of its skb lifetime. Two captured packets of one skb therefore have the
same epb_packetid. No kernel log records the sniffer's drops, or a packet's queue and verdict in
Wireshark's sense. Packets that no sniffer captured have a comment that says so. Rows K<n> have an
interface of their own. If addresses get pseudonyms, the user's comments and the comments and custom
options of captures are left out, because they can contain anything.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...analysis.fields.field_source_tables import LEG, PACKET, SERIES, Data
from ...readers import capture_description, kind_name
from ...records import UNTIMED, Interface, SourceKind
from ...records.types import Bools, Int64s, UInt8s
from ..atomic_write import write_parts
from ..chosen_packets import Places, chosen_packets, packet_places, parts
from ..formats import Exportable, Request
from ..packets_from_tracer_log import ETHERNET, LogPackets, log_packets
from ..pseudonyms import Pseudonyms
from ..pseudonyms.packets import with_pseudonyms
from .byte_copy_loops import AHEAD, Buffer
from .comment_format import LONGEST, foreign
from .field_text_loops import Texts
from .kernel_field_comments import Comments, texts_of
from .pcapng_block_loops import HEADER, copy_blocks, options_sizes, write_blocks
from .pcapng_blocks import (
    IF_DESCRIPTION,
    IF_NAME,
    IF_TSOFFSET,
    IF_TSRESOL,
    INTERFACE,
    NANOSECONDS,
    OPT_COMMENT,
    OPT_END,
    block,
    option,
    section,
)
from .retis_blocks import write_retis
from .uncaptured_packet_comments import marks_of_packets, point_marks

SECOND = 10**9
EACH = 136  # bytes of a packet block besides its packet, comments and copied options, at most
WORD = 4  # all parts of a file begin at multiples of it
EXACT = 0  # verdict


class _Source(NamedTuple):
    """A capture: its id, the number of its first interface in the new file, and its interfaces."""

    id: int
    first: int
    interfaces: tuple[Interface, ...]
    is_pcapng: bool
    is_of_log: bool  # no sniffer captured the packets
    tsoffset: int  # seconds; below 0 if a packet's time is before 1970
    comments: tuple[bytes, ...]  # of its sections


def write_pcapng(recording: Exportable, request: Request, out: Path) -> None:
    """Write to the file `out` the packets that `request` names.

    Raises KeyError if a packet does not exist, or if no log contains the bytes of packets that no
    capture contains. Raises FilterError if the filter is wrong, BadInput if an input or `out`
    cannot be used, and Cancelled if the user cancels.
    """
    if request.retis:
        write_retis(recording, request, out)
        return
    data = recording.export.field_data()
    packets, beside = chosen_packets(recording, request), log_packets(recording, request)
    sources = _sources(recording, data)
    count = sum(len(source.interfaces) for source in sources)
    comments = () if request.pseudonym_key else chain(*(s.comments for s in sources))
    head = [section(map(foreign, comments)), *_interfaces(sources, request)]
    head += [_interface_of_log(one, request.snaplen) for one in beside]
    blocks = _blocks(recording, data, request, packets, sources)
    write_parts(out, chain(head, blocks, _blocks_of_logs(data, request, beside, count)))


def _sources(recording: Exportable, data: Data) -> list[_Source]:
    sources, first = [], 0
    of, ts = (data.columns.array(PACKET, name) for name in ("source", "ts"))
    for source in recording.sources():
        if source.kind.is_log:
            continue
        interfaces, comments = capture_description(Path(source.path))
        times = ts[of == source.id]
        earliest = int(times[times != UNTIMED].min(initial=0))
        of_log = source.kind.is_of_log
        is_pcapng = source.kind is SourceKind.PCAPNG
        before = earliest // SECOND
        sources.append(_Source(source.id, first, interfaces, is_pcapng, of_log, before, comments))
        first += len(interfaces)
    return sources


def _interfaces(sources: list[_Source], request: Request) -> Iterator[bytes]:
    snaplen = request.snaplen
    for source in sources:
        for interface in source.interfaces:
            limit = min(interface.snaplen or snaplen, snaplen or interface.snaplen)
            head = struct.pack("<HHI", interface.linktype, 0, limit)
            for comment in () if request.pseudonym_key else interface.comments:
                head += option(OPT_COMMENT, foreign(comment))
            name = option(IF_NAME, interface.name.encode()) if interface.name else b""
            clock = option(IF_TSRESOL, bytes([NANOSECONDS]))
            if source.tsoffset:
                clock += option(IF_TSOFFSET, struct.pack("<q", source.tsoffset))
            yield block(INTERFACE, head + name + clock + option(OPT_END, b""))


def _interface_of_log(found: LogPackets, snaplen: int) -> bytes:
    """Return the interface for packets whose bytes are only in a log."""
    head = struct.pack("<HHI", ETHERNET, 0, snaplen)
    text = f"packets that no capture has, from a {kind_name(found.source.kind)}"
    options = option(IF_NAME, b"kernel-only") + option(IF_DESCRIPTION, text.encode())
    options += option(IF_TSRESOL, bytes([NANOSECONDS]))
    return block(INTERFACE, head + options + option(OPT_END, b""))


def _blocks(
    recording: Exportable, data: Data, request: Request, packets: Int64s, sources: list[_Source]
) -> Iterator[UInt8s]:
    """Yield the packet blocks, many packets at a time.

    Each result is valid until the next one is requested.
    """
    write = _Blocks(request)
    comments, notes = Comments(data, write.names), {} if write.names else data.comments()
    series = _series(data)
    done = 0
    for source in sources:
        mine = packets[data.columns.take(PACKET, "source", packets - 1) == source.id]
        if not len(mine):
            continue
        file = recording.export.capture_bytes(source.id)
        marks = marks_of_packets(data, mine) if source.is_of_log else {}
        for some in parts(mine, data.columns.take(PACKET, "caplen", mine - 1)):
            request.progress.report("Writing packets", done, len(packets))
            done += len(some)
            of = packet_places(data, file, some, request)
            has_options = (of.ts != UNTIMED) & source.is_pcapng  # simple blocks have neither
            texts = comments.of(some), texts_of(_notes(notes, some, marks))
            write.interface, write.tsoffset = source.first, source.tsoffset
            yield write.blocks(file, of, has_options, series[some - 1], *texts)


def _blocks_of_logs(
    data: Data, request: Request, found: list[LogPackets], interface: int
) -> Iterator[UInt8s]:
    """Yield the blocks of packets that only logs have; `interface` is the first log's interface."""
    write = _Blocks(request)
    comments = Comments(data, write.names, SERIES)
    notes = {} if write.names else data.comments()
    for number, log in enumerate(found, start=interface):
        write.interface = number
        write.tsoffset = int(log.ts.min(initial=0)) // SECOND
        for rows in parts(np.arange(len(log.number)), log.caplen):
            some = log.part(rows)
            marks = point_marks(data, -some.number, some.event)
            of = some.places(request)
            texts = comments.of(some.series + 1), texts_of(_notes(notes, -some.number, marks))
            never = np.zeros(len(rows), np.bool_)
            yield write.blocks(log.data, of, never, some.series + 1, *texts)


def _notes(notes: Mapping[int, str], rows: Int64s, marks: Mapping[int, str]) -> list[bytes]:
    """Return each row's comment about the origin of its bytes, followed by the user's comment."""
    if not notes and not marks:
        return [b""] * len(rows)
    both = ((marks.get(n, ""), notes.get(n, "")) for n in rows.tolist())
    return ["\n".join(filter(None, texts)).encode()[:LONGEST] for texts in both]


def _series(data: Data) -> Int64s:
    """Return the skb lifetime of each packet; -1 if its match is not exact."""
    series = np.full(data.columns.length(PACKET), -1, np.int64)
    exact = np.flatnonzero(data.columns.array("match", "verdict") == EXACT)
    leg = data.columns.take("match", "leg", exact).astype(np.int64)
    packet = data.columns.take("match", "packet", exact).astype(np.int64)
    series[packet - 1] = data.columns.take(LEG, "series", leg - 1)
    return series


class _Blocks:
    """Writes the packets of captures and logs; each block is valid until the next one is made."""

    def __init__(self, request: Request) -> None:
        self.names = Pseudonyms(request.pseudonym_key) if request.pseudonym_key else None
        self.interface, self.tsoffset = 0, 0  # the first interface, and seconds before each time
        self._buffer = Buffer()

    def blocks(
        self,
        file: UInt8s,
        of: Places,
        has_options: Bools,
        series: Int64s,
        comments: Sequence[Texts],
        notes: Texts,
    ) -> UInt8s:
        """Return packet blocks. `series` becomes the option epb_packetid; -1 means none.

        `comments` are the comments with fields, part by part; `notes` are the user's comments.
        """
        offset, caplen, length, kept = of.offset, of.caplen, of.length, of.kept
        ticks = np.where(of.ts != UNTIMED, of.ts - self.tsoffset * SECOND, 0)
        copied = int(options_sizes(file, offset[has_options], caplen[has_options]))
        if self.names is not None:
            file, offset = _copied(file, has_options, offset, caplen, copied)
            file = with_pseudonyms(file, of.linktype, offset, caplen, length, self.names)
        size = EACH * len(offset) + int(kept.sum()) + copied
        size += 2 * sum(int(texts.ends[-1]) for texts in (*comments, notes)) + AHEAD
        out = self._buffer.of(size + -size % WORD)
        end = write_blocks(
            file, has_options, offset, caplen, kept, length, self.interface + of.interface, ticks,
            series, tuple(comments), notes, self.names is None, out, out.view(np.uint32),
        )  # fmt: skip
        return out[: int(end)]


def _copied(
    file: UInt8s, has_options: Bools, offset: Int64s, caplen: Int64s, options: int
) -> tuple[UInt8s, Int64s]:
    """Return a copy of packets and their blocks, and the offsets of the packets in the copy."""
    size = int(caplen.sum()) + options + (HEADER + 3) * len(offset)
    copy, places = np.zeros(size, np.uint8), np.empty(len(offset), np.int64)
    copy_blocks(file, has_options, offset, caplen, copy, places)
    return copy, places

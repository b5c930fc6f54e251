# SPDX-License-Identifier: MIT
"""Packets as pcapng: their bytes, times, link types and comments, and one with the kernel's fields.

Each interface of each capture is one of the file, in import order, with times in ns.  Options of
the capture's packet blocks are kept: flags, drop count, queue, verdict, packet id, hash (unless the
packet is cut) and custom ones.  Other packets get an epb_packetid if their match is exact: it is
the number of their skb lifetime, so that two sightings of one skb have the same.  What a sniffer
dropped, and the queue and the verdict of a packet, no kernel log records.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from ... import __version__
from ...analysis.fields.field_data import LEG, PACKET, Data
from ...readers import capture_interfaces
from ...records import UNTIMED, BadInput, Interface, SourceKind
from ...records.types import Int64s, UInt8s
from ..formats import Exportable, Request
from .block_loops import options_sizes, write_blocks
from .byte_copies import Buffer
from .comment_format import LONGEST
from .comments import Comments, Texts, texts_of
from .kept_bytes import header_bytes, kept_bytes

SECTION_HEADER, INTERFACE, BYTE_ORDER_MAGIC = 0x0A0D0D0A, 1, 0x1A2B3C4D
OPT_END, SHB_USERAPPL, IF_NAME, IF_TSRESOL, IF_TSOFFSET = 0, 4, 2, 9, 14
NANOSECONDS, SECOND = 9, 10**9
MOST_PACKETS, MOST_BYTES = 1 << 16, 1 << 25  # of a block of packets that is written at once
EACH = 96  # bytes of a packet block besides its packet, comments and copied options, at most
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
    made = out if out.exists() and not out.is_file() else _temporary(out)
    try:
        with made.open("wb") as file:
            file.write(_section() + b"".join(_interfaces(sources, request.snaplen)))
            for blocks in _blocks(recording, data, request, packets, sources):
                _write(file, blocks)
        if made != out:
            os.replace(made, out)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise BadInput(out, None, f"cannot write: {error.strerror}") from error
    finally:
        if made != out:
            made.unlink(missing_ok=True)


def chosen_packets(recording: Exportable, request: Request) -> Int64s:
    """Return the numbers of the packets that `request` names, ascending.

    Raises KeyError if one of its rows is no captured packet, and FilterError.
    """
    count = recording.packets.count()
    found = recording.packets.select(request.filter)
    packets = np.arange(1, count + 1) if found is None else np.sort(found[found > 0])
    for row in request.rows:
        if not 1 <= row <= count:
            name = f"K{-row}" if row < 0 else str(row)
            raise KeyError(f"no packet {name}" + " in a capture" * (row < 0))
    if request.rows:
        packets = packets[np.isin(packets, request.rows)]
    if request.times is None:
        return packets
    return recording.export.captured_between(packets, request.times)


def _temporary(out: Path) -> Path:
    return out.with_name(f".{out.name}.{os.getpid()}.tmp")


def _write(file: BinaryIO, blocks: UInt8s) -> None:
    view = blocks.data
    while len(view):  # a pipe takes a part
        view = view[file.write(view) :]


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
    comments, notes, buffer = Comments(data), data.comments(), Buffer()
    series = _series(data)
    done = 0
    for source in sources:
        mine = packets[data.columns.take(PACKET, "source", packets - 1) == source.id]
        if not len(mine):
            continue
        file = recording.export.capture_bytes(source.id)
        for some in _parts(mine, data.columns.take(PACKET, "caplen", mine - 1)):
            request.progress.report("Writing packets", done, len(packets))
            done += len(some)
            both = comments.of(some), texts_of(_notes(notes, some))
            yield _packet_blocks(data, file, source, some, series[some - 1], request, *both, buffer)


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


def _parts(packets: Int64s, caplen: Int64s) -> Iterator[Int64s]:
    """Divide packets into parts of at most MOST_PACKETS and about MOST_BYTES."""
    part = np.maximum(
        np.arange(len(packets)) // MOST_PACKETS, np.cumsum(caplen, dtype=np.int64) // MOST_BYTES
    )
    yield from np.split(packets, np.flatnonzero(np.diff(part)) + 1)


def _packet_blocks(
    data: Data,
    file: UInt8s,
    source: _Source,
    packets: Int64s,
    series: Int64s,
    request: Request,
    comments: Texts,
    notes: Texts,
    buffer: Buffer,
) -> UInt8s:
    def column(name: str) -> Int64s:
        return data.columns.take(PACKET, name, packets - 1).astype(np.int64)

    offset, caplen, length = column("offset"), column("caplen"), column("len")
    ts, interface = column("ts"), column("interface")
    if (offset + caplen).max() > len(file) or min(offset.min(), caplen.min()) < 0:
        path = next(s.path for s in data.sources if s.id == source.id)
        raise BadInput(Path(path), None, "is shorter than when it was imported")
    headers = None
    if not request.payload:
        headers = header_bytes(file, column("linktype"), offset, caplen, length)
    kept = kept_bytes(caplen, headers, request.snaplen)
    timed = ts != UNTIMED
    ticks = np.where(timed, ts - source.tsoffset * SECOND, 0)
    has_options = timed & source.is_pcapng  # simple packet blocks have neither time nor options
    copied = int(options_sizes(file, offset[has_options], caplen[has_options]))
    size = EACH * len(packets) + int(kept.sum()) + copied + len(notes.data)
    out = buffer.of(size + 2 * int(comments.ends[-1]))
    end = write_blocks(
        file, has_options, offset, caplen, kept, length, source.first + interface, ticks,
        series, *comments, *notes, out,
    )  # fmt: skip
    return out[: int(end)]

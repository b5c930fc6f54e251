# SPDX-License-Identifier: MIT
"""Follow Stream: the data that the two ends of a packet's conversation sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...analysis.streams.stream_payload import Piece, Segment, bytestream, datagrams
from ...analysis.words.packet_info import address
from ...records import Progress, SourceRow
from ...records.protocols import TCP, UDP
from ...store import Database, packet_list_queries
from ...store.query_rows import StoredPacket
from ..annotation_places import RowIds
from .payloads import Payloads

WORDS = {TCP: "tcp", UDP: "udp"}
PAGE = 4096  # packets per query


class Stream(NamedTuple):
    """The data of one conversation.

    `ends` are two texts "address:port"; the end that sent first is the first one.

    `text` is the display filter that selects the conversation.  `unread` is the number of packets
    whose bytes could not be read from the capture.
    """

    protocol: str  # "TCP" or "UDP"
    text: str
    ends: tuple[str, str]
    pieces: tuple[Piece, ...]
    packets: int
    unread: int


def stream_filter(protocol: int | None, number: str) -> str:
    """Return the display filter for stream `number`, for example "tcp.stream == 3".

    Raises KeyError if packets of this protocol have no streams.
    """
    word = WORDS.get(protocol or 0)
    if word is None or not number:
        raise KeyError("only TCP and UDP packets have a stream to follow")
    return f"{word}.stream == {number}"


def stream_of(
    db: Database, ids: RowIds, text: str, sources: Sequence[SourceRow], progress: Progress
) -> Stream:
    """Return the data that both ends of a conversation sent; `ids` are its packets.

    `ids` are sorted by number; `text` is the display filter that selects them.  Raises Cancelled.
    """
    files, segments, unread, first = Payloads(sources), [], 0, None
    for begin in range(0, len(ids), PAGE):
        progress.report("following the stream", begin, len(ids))
        numbers = ids[begin : begin + PAGE].tolist()
        for number, row in sorted(packet_list_queries.packets(db, numbers).items()):
            first = first or (_end(row, "s"), _end(row, "d"))
            found = files.payload(row)
            unread += found is None
            captured = b"" if found is None else found.data[: max(row.payload, 0)]
            side = int(_end(row, "s") != first[0])
            flags = max(row.tcp_flags, 0)
            segments.append(
                Segment(number, side, max(row.seq, 0), flags, captured, max(row.payload, 0))
            )
    pieces = bytestream(segments) if text.startswith("tcp") else datagrams(segments)
    protocol = text.split(".")[0].upper()
    return Stream(protocol, text, first or ("", ""), tuple(pieces), len(ids), unread)


def _end(row: StoredPacket, side: str) -> str:
    """Return one end of a packet as a text: "10.0.0.1:80" or "[fe80::1]:80"."""
    high, low = getattr(row, f"{side}addr_hi"), getattr(row, f"{side}addr_lo")
    text = address(row.ip_version, high, low) or ""
    port = getattr(row, f"{side}port")
    return f"[{text}]:{port}" if row.ip_version == 6 else f"{text}:{port}"


def numbers_of(ids: RowIds | None, count: int) -> RowIds:
    """Return the rows of `ids` that are packets; None means all `count` packets."""
    if ids is None:
        return np.arange(1, count + 1)
    return np.asarray(ids[ids > 0])

# SPDX-License-Identifier: MIT
"""Data from the captured bytes of packets in an open session: headers and streams."""

from __future__ import annotations

from ...analysis.dissect import Node
from ...records import Progress, Silent
from ..open_session_file import OpenedFile
from . import followed_stream, packet_headers
from .packet_list import PacketList
from .session_fields import Fields


class Contents:
    """The bytes of packets, read from the captures, which may have moved."""

    def __init__(self, opened: OpenedFile, packets: PacketList, fields: Fields) -> None:
        self._opened, self._packets, self._fields = opened, packets, fields

    def packet_bytes(self, number: int) -> bytes | None:
        """Return the captured bytes of a packet; None if its file has moved or changed its size."""
        with self._opened.database() as db:
            return packet_headers.bytes_of(db, self._opened.sources(), number)

    def detail(self, number: int) -> tuple[Node, ...]:
        """Return the headers of packet `number`; () if its file has moved or changed its size."""
        data = self.packet_bytes(number)
        if data is None:
            return ()
        (packet,) = self._packets.numbered(number, 1)
        kind = self._opened.sources()[packet.source - 1].kind
        return packet_headers.of_packet(self._packets, self._fields, packet, kind, data)

    def stream(self, number: int, progress: Progress | None = None) -> followed_stream.Stream:
        """Return the stream of packet `number`: the data that both ends sent.

        Raises KeyError if the packet has no stream; raises Cancelled.
        """
        (packet,) = self._packets.numbered(number, 1)
        word = followed_stream.WORDS.get(packet.protocol or 0, "")
        values = self._fields.values(f"{word}.stream", [number]) if word else [""]
        text = followed_stream.stream_filter(packet.protocol, values[0])
        ids = followed_stream.numbers_of(self._packets.select(text), self._packets.count())
        sources = self._opened.sources()
        with self._opened.database() as db:
            return followed_stream.stream_of(db, ids, text, sources, progress or Silent())

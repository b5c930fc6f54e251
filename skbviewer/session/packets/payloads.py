# SPDX-License-Identifier: MIT
"""Facts that only captured bytes show: the protocol of a payload, and the payload.

The bytes are read from the source files.  A file that has moved or changed its size counts as
unreadable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ... import readers
from ...analysis.dissect import (
    IP_PROTOCOLS,
    PARSERS,
    Payload,
    carried_of,
    control_summary,
    llc_summary,
    options_text,
    payload_of,
    payload_summary,
    tcp_options_of,
)
from ...analysis.streams.tcp_info_column_text import SegmentSummary
from ...records import BadInput, PacketRow, SourceRow
from ...records.header_layout import IP_OFFSET
from ...records.protocols import TCP, UDP
from ...records.types import UInt8s
from ...store.query_rows import StoredPacket

ETHERNET = 1
PORTS = {protocol: {p for one, p in PARSERS if one == protocol} for protocol in (TCP, UDP)}


class Payloads:
    """Reads the payloads of packets from the session's input files, `sources`."""

    def __init__(self, sources: Sequence[SourceRow]) -> None:
        self._paths: Mapping[int, Path] = {
            source.id: Path(source.path) for source in sources if not source.kind.is_log
        }
        self._sizes = {source.id: source.size for source in sources}
        self._kept: dict[int, UInt8s | None] = {}  # by source id; None: moved or changed

    def look_again(self) -> None:
        """Check the source files again, to notice files that are back or have changed."""
        for source in [s for s, kept in self._kept.items() if self._is(s) is (kept is None)]:
            del self._kept[source]

    def described(
        self, row: StoredPacket, made: PacketRow, stream: SegmentSummary | None = None
    ) -> PacketRow:
        """Return the row `made` with protocol and Info of its payload, if its ports suggest one.

        `row` has the stored columns of the packet; `stream` is what its TCP stream shows.  Routing
        and bridging protocols have no ports, so they are found by protocol number or LLC header.
        """
        if row.protocol in IP_PROTOCOLS or (row.ip_version == 0 and row.ethertype < 0):
            found = self._control(row)
            return made._replace(protocol_name=found[0], info=found[1]) if found else made
        ports = PORTS.get(row.protocol, set())
        if row.payload <= 0 or ports.isdisjoint((row.sport, row.dport)):
            return made
        payload = self.payload(row)
        summary = payload_summary(*payload) if payload is not None else None
        if summary is None:
            return made
        words = stream.words if stream else ""
        return made._replace(protocol_name=summary.protocol, info=words + summary.info)

    def options(self, row: StoredPacket, stream: SegmentSummary | None = None) -> str:
        """Return the options in the TCP header of packet `row`, as a text for Info: " MSS=1460".

        If `stream` is given, acknowledgement numbers are relative to the stream's first number.
        Returns "" if the header has no options.
        """
        if row.protocol != TCP or row.tcp_flags < 0:
            return ""
        data = self.data(row.source, row.offset, row.caplen)
        base = 0 if stream is None else row.ack - stream.ack
        return options_text(tcp_options_of(data, row.linktype), base) if data else ""

    def _control(self, row: StoredPacket) -> tuple[str, str] | None:
        data = self.data(row.source, row.offset, row.caplen)
        if data is None:
            return None
        if row.ip_version == 0:
            return llc_summary(data) if row.linktype == ETHERNET else None
        later = row.frag_off > 0 and row.frag_off & IP_OFFSET
        carried = None if later else carried_of(data, row.linktype)
        return control_summary(row.protocol, carried) if carried else None

    def payload(self, row: StoredPacket) -> Payload | None:
        """Return the captured part of a packet's payload; None if it cannot be read."""
        data = self.data(row.source, row.offset, row.caplen)
        return payload_of(data, row.linktype) if data is not None else None

    def data(self, source: int, offset: int, caplen: int) -> bytes | None:
        """Return `caplen` captured bytes at `offset` of a file; None if the file has changed."""
        if source not in self._kept:
            self._kept[source] = self._open(source)
        kept = self._kept[source]
        if kept is None or offset + caplen > len(kept):
            return None
        return kept[offset : offset + caplen].tobytes()

    def contents(self, source: int) -> UInt8s:
        """Return the contents of a capture.

        Raises BadInput if the file has moved or changed its size.
        """
        if not self._is(source):
            path = self._paths[source]
            raise BadInput(path, None, "is missing, or has changed since the import")
        return readers.file_bytes(self._paths[source])

    def _open(self, source: int) -> UInt8s | None:
        try:
            return readers.file_bytes(self._paths[source]) if self._is(source) else None
        except BadInput:
            return None

    def _is(self, source: int) -> bool:
        """Return whether the source file exists, and has the same size as when it was imported."""
        try:
            return bool(self._paths[source].stat().st_size == self._sizes[source])
        except (OSError, KeyError):
            return False

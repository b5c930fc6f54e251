# SPDX-License-Identifier: MIT
"""The detail tree of a packet: its headers, and facts about it from the session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ... import readers
from ...analysis.dissect import Node, dissect
from ...analysis.dissect.frame_and_stream_lines import (
    FIELDS,
    STREAM_FIELDS,
    PacketFacts,
    with_facts,
)
from ...analysis.fields.field_source_tables import PACKET
from ...analysis.streams import tcp_info_column_text
from ...analysis.streams.ping_and_arp_links import Link, links_of
from ...records import BadInput, PacketRow, SourceKind, SourceRow
from ...store import Database, queries
from .packet_list import PacketList
from .session_fields import Fields


def bytes_of(db: Database, sources: Sequence[SourceRow], number: int) -> bytes | None:
    """Return the captured bytes of packet `number`; None if its file has moved or changed its size.

    Raises KeyError for an unknown packet.
    """
    rows = queries.packets(db, number, 1)
    if not rows:
        raise KeyError(f"no packet {number}")
    source = sources[rows[0].source - 1]
    path = Path(source.path)
    if not path.is_file() or path.stat().st_size != source.size:
        return None
    return readers.packet_bytes(path, rows[0].offset, rows[0].caplen)


def of_packet(
    packets: PacketList, fields: Fields, packet: PacketRow, kind: str, captured: bytes
) -> tuple[Node, ...]:
    """Return the tree of `packet`: the node Frame, and the headers in its `captured` bytes.

    `kind` is the kind of file in which the packet is.  In a large session, facts about the packet's
    stream are missing until the streams have been followed.
    """
    nodes = dissect(captured, packet.linktype, packet.len)
    return with_facts(nodes, _facts(packets, fields, packet, kind, len(captured)))


def _facts(
    packets: PacketList, fields: Fields, packet: PacketRow, kind: str, caplen: int
) -> PacketFacts:
    number, followed, data = packet.number, packets.streams_followed(), fields.data()
    names = (*FIELDS, *(STREAM_FIELDS if followed else ()))
    values = {name: _value(fields, name, number) for name in names}
    if kind != "pcapng":  # other files name no interfaces
        values["frame.interface_id"] = ""
    numbers = np.array([number], np.int64)
    summary = (
        tcp_info_column_text.segment_summaries(data, numbers).get(number) if followed else None
    )
    link = links_of(data, numbers).get(number) if followed else None
    payload = int(data.columns.take(PACKET, "payload", numbers - 1)[0])
    return PacketFacts(
        number,
        packet.len,
        caplen,
        values,
        0 if summary is None else summary.shift,
        max(payload, 0),
        link,
        _response_ns(packets, packet, link),
        SourceKind(kind).is_of_log,
    )


def _value(fields: Fields, name: str, number: int) -> str:
    try:
        return fields.values(name, [number])[0]
    except BadInput:  # the capture was moved in the meantime
        return ""


def _response_ns(packets: PacketList, packet: PacketRow, link: Link | None) -> int | None:
    if link is None or not link.partner:
        return None
    (partner,) = packets.numbered(link.partner, 1)
    if packet.ts_ns is None or partner.ts_ns is None:
        return None
    return abs(packet.ts_ns - partner.ts_ns)

# SPDX-License-Identifier: MIT
"""Convert stored rows into the plain values that views and exports use."""

from __future__ import annotations

from typing import Any

from ...analysis import VERDICTS, address, describe, mac, or_none, reason, series_reason
from ...analysis.streams.tcp_info_column_text import SegmentSummary
from ...matching import Rung
from ...records import POINTS_ONLY, UNTIMED, PacketRow, SeriesRow
from ...records.protocols import TCP, UDP
from ...store.query_rows import StoredPacket, StoredSeries

EXACT = VERDICTS.index("exact")
POINTS = f" {POINTS_ONLY.capitalize()}."
LOST = " Some of its records may have been lost or left out: its times are unknown."


def packet_row(
    row: StoredPacket,
    first: int,
    has_kbl: bool,
    stream: SegmentSummary | None = None,
    more: str = "",
) -> PacketRow:
    """Return a packet, as it is stored, as a row of the packet list.

    `first` is the number of the first packet of its source; `stream` is what its TCP stream shows;
    `more` is appended to Info.
    """
    protocol_name, info = describe(row, stream, more)
    saddr = address(row.ip_version, row.saddr_hi, row.saddr_lo)
    daddr = address(row.ip_version, row.daddr_hi, row.daddr_lo)
    has_ports = row.protocol in (TCP, UDP)
    return PacketRow(
        number=row.id,
        ts_ns=None if row.ts == UNTIMED else row.ts,
        caplen=row.caplen,
        len=row.len,
        linktype=row.linktype,
        source=row.source,
        frame=row.id - first + 1,
        saddr=saddr,
        daddr=daddr,
        ip_id=or_none(row.ip_id),
        protocol=or_none(row.protocol),
        sport=or_none(row.sport) if has_ports else None,
        dport=or_none(row.dport) if has_ports else None,
        info=info,
        verdict=VERDICTS[row.verdict],
        confidence=None if row.verdict >= VERDICTS.index("wire-only") else row.confidence,
        kernel_ns=or_none(row.kernel_ns),
        functions=or_none(row.functions),
        reason=_reason(row, has_kbl),
        protocol_name=protocol_name,
        source_text=saddr or mac(row.eth_src),
        destination_text=daddr
        or ("Broadcast" if row.eth_dst == (1 << 48) - 1 else mac(row.eth_dst)),
    )._replace(**spent(row))


def spent(row: StoredPacket | StoredSeries) -> dict[str, Any]:
    """Return the parts of a row's time in kernel, in ns. docs/times.md explains their names."""
    names = ("busy_ns", "wait_ns", "unknown_ns", "cpu_ns", "overlap_ns")
    if row.kernel_ns < 0:
        return dict.fromkeys(names)
    waited = row.kernel_ns - row.busy_ns - row.unknown_ns
    times = (row.busy_ns, waited, row.unknown_ns, row.cpu_ns, row.cpu_ns - row.busy_ns)
    return dict(zip(names, times, strict=True))


def _reason(row: StoredPacket, has_kbl: bool) -> str:
    """Return the reason of the verdict; for an exact match without a time, also why it has none."""
    lost = POINTS if row.rung == Rung.OF_LOG else LOST
    unknown = row.verdict == EXACT and row.kernel_ns < 0
    return reason(row.verdict, row.rung, has_kbl) + (lost if unknown else "")


def series_row(
    row: StoredSeries, stream: SegmentSummary | None = None, has_points: bool = False
) -> SeriesRow:
    """Return an skb lifetime as row K<n>; `stream` has its numbers in a captured stream.

    `has_points` is True if its log has only points.
    """
    unknown = POINTS if has_points else LOST
    protocol_name, info = describe(row, stream)
    return SeriesRow(
        series=row.id,
        number=f"K{row.kernel_only}",
        ts_ns=row.begin_ns,
        saddr=address(row.ip_version, row.saddr_hi, row.saddr_lo),
        daddr=address(row.ip_version, row.daddr_hi, row.daddr_lo),
        ip_id=or_none(row.ip_id),
        protocol=or_none(row.protocol),
        info=info,
        kernel_ns=or_none(row.kernel_ns),
        functions=or_none(row.functions),
        reason=series_reason(row.verdict, row.rung) + (unknown if row.kernel_ns < 0 else ""),
        protocol_name=protocol_name,
    )._replace(**spent(row))

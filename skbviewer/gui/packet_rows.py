# SPDX-License-Identifier: MIT
"""Rows of the packet list: wire packets first, then packet lives that never met the wire."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from skbviewer.records import PacketRow, SeriesRow

from .contract import Recording

PAGE = 512
PAGES_KEPT = 64
_PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6"}


class ListRow(NamedTuple):
    """One row as shown; exactly one of `packet` and `series` is set.  ts_ns: of its own clock."""

    number: str
    packet: int | None
    series: int | None
    ts_ns: int
    source: str
    destination: str
    protocol: str
    length: int | None
    info: str
    kernel_ns: int | None
    functions: int | None
    verdict: str
    confidence: float | None
    reason: str


def of_packet(row: PacketRow) -> ListRow:
    return ListRow(
        str(row.number),
        row.number,
        None,
        row.ts_ns,
        row.source_text,
        row.destination_text,
        row.protocol_name,
        row.len,
        row.info,
        row.kernel_ns,
        row.functions,
        row.verdict,
        row.confidence,
        row.reason,
    )


def of_series(row: SeriesRow) -> ListRow:
    # a life without an IP header names its protocol first, as "ARP"
    unknown = row.info.split(" ")[0] if row.protocol is None else str(row.protocol)
    return ListRow(
        row.number,
        None,
        row.series,
        row.ts_ns,
        row.saddr or "",
        row.daddr or "",
        _PROTOCOLS.get(row.protocol or -1, unknown),
        None,
        row.info,
        row.kernel_ns,
        row.functions,
        "kernel-only",
        None,
        row.reason,
    )


class RowPages:
    """Rows by position from 0; asks the recording for pages of PAGE rows and keeps the latest."""

    def __init__(self, recording: Recording, kernel_only: bool) -> None:
        self._recording = recording
        self.packets = recording.packet_count()
        self.count = self.packets + (recording.kernel_only_count() if kernel_only else 0)
        self._pages: OrderedDict[tuple[bool, int], list[ListRow]] = OrderedDict()

    def __getitem__(self, position: int) -> ListRow:
        on_wire = position < self.packets
        page, place = divmod(position if on_wire else position - self.packets, PAGE)
        return self._page(on_wire, page)[place]

    def _page(self, on_wire: bool, page: int) -> list[ListRow]:
        key = (on_wire, page)
        if key not in self._pages:
            self._pages[key] = self._ask(on_wire, page * PAGE + 1)
            if len(self._pages) > PAGES_KEPT:
                self._pages.popitem(last=False)
        self._pages.move_to_end(key)
        return self._pages[key]

    def _ask(self, on_wire: bool, first: int) -> list[ListRow]:
        if on_wire:
            return [of_packet(row) for row in self._recording.packets(first, PAGE)]
        return [of_series(row) for row in self._recording.kernel_only(first, PAGE)]

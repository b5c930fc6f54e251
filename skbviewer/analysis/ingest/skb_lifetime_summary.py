# SPDX-License-Identifier: MIT
"""Summarise the records of each skb lifetime: its end, its skb, and its packet's identity.

Input: the records of a KBL, and the lifetime of each.  Output: one row for each lifetime.  After
this step, an import does not need the records any more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...matching import LegTable, Rows, SeriesTable, blocks, has_larger_header, record_blocks
from ...records import (
    IDENTITY_DTYPE,
    ColumnTable,
    Records,
    RecordTable,
    part,
    parts,
    scratch_of,
)
from ...records.compiled import allocation_free
from ...records.types import Int32s, Int64s, UInt8s

ETH_P_ARP = 0x0806
ARP, LARGER, IP, PORTS = 1, 2, 3, 4  # the better a record shows the packet's identity, the higher
IDENTITY = ("ifindex", "netns", "skb_len", *(IDENTITY_DTYPE.names or ()))


Columns = dict[str, npt.NDArray[np.generic]]


class SeriesSummary(NamedTuple):
    """Columns with an element for each skb lifetime.

    `ordinal` is the ordinal of the record to show for the lifetime.  `identity` is the ordinal of
    the record that shows the packet best (-1 = none).  `is_ip` says whether the record `identity`
    has an IP header.
    """

    end_ns: Int64s
    skb: Int64s
    ordinal: npt.NDArray[np.int32]
    identity: npt.NDArray[np.int32]
    is_ip: npt.NDArray[np.bool_]
    rows: ColumnTable
    number: npt.NDArray[np.int32]  # the identity's row in `rows`, 0 = the unknown one

    def columns(self, some: slice) -> Columns:
        """Return the columns of table `series` that identify the packets of the lifetimes `some`.

        Unknown values are -1 or 0.
        """
        return dict(parts(self.rows, IDENTITY, self.number[some].astype(np.int64)))


def series_summary(records: Records, series: SeriesTable, legs: LegTable) -> SeriesSummary:
    """Return a row for each lifetime; its identity is from the first record that shows ports.

    If no record shows ports, the identity is from the first record with an IP header, or else from
    the first with ARP.  The first records of a segment have the header of a larger packet.  The
    header of a larger packet is used only if there is no better one.
    """
    assert isinstance(records, RecordTable)
    count = len(series.parent)
    skb, first = np.zeros(count, np.int64), np.full(count, -1, np.int32)
    best = np.full((PORTS + 1, count), -1, np.int32)
    level, number = _levels(records.footprints), records.footprint
    for rows in record_blocks(records):
        address = Rows(records, rows)["skb"]
        _note(rows.start, series.of[rows], address, number[rows], level, skb, first, best)
    del level
    ip = np.where(best[PORTS] >= 0, best[PORTS], best[IP])
    ip = np.where(ip >= 0, ip, best[LARGER])
    identity = np.where(ip >= 0, ip, best[ARP])
    shown = np.where(identity >= 0, identity, first)
    ordinal = part(records, "ordinal", shown).astype(np.int32)
    own = np.where(identity >= 0, part(records, "ordinal", identity), -1).astype(np.int32)
    numbers = np.where(identity >= 0, number[identity], np.int32(0))
    begin = np.flatnonzero(np.r_[True, np.diff(legs.rows.stored("series")) != 0][: len(legs.rows)])
    ends = np.maximum.reduceat(legs.last_ns, begin) if len(begin) else legs.last_ns
    keep, prints = scratch_of(records).keep, records.footprints
    return SeriesSummary(
        keep(ends), keep(skb), keep(ordinal), keep(own), ip >= 0, prints, keep(numbers)
    )


@allocation_free
def _note(
    begin: int,
    of: Int32s,
    address: Int64s,
    number: Int32s,
    level: UInt8s,
    skb: Int64s,
    first: Int32s,
    best: Int32s,
) -> None:
    """Store the first record of each kind for each lifetime, among the records from `begin` on."""
    for i in range(len(of)):
        owner = of[i]
        if owner < 0:
            continue
        if first[owner] < 0:
            first[owner] = begin + i
        if skb[owner] == 0:  # the entry of an allocator has no skb yet
            skb[owner] = address[i]
        shows = level[number[i]]
        if best[shows, owner] < 0:
            best[shows, owner] = begin + i


def _levels(footprints: ColumnTable) -> UInt8s:
    """Return a number for each footprint: the better it identifies the packet, the higher."""
    level, larger = np.empty(len(footprints), np.uint8), has_larger_header(footprints)
    for some in blocks(len(footprints)):
        made = (footprints.part("ethertype", some) == ETH_P_ARP).astype(np.uint8)
        has_ip = footprints.part("ip_version", some) != 0
        made[has_ip] = IP  # when a packet is sent, ports are written after the addresses
        made[has_ip & (footprints.part("sport", some) > 0)] = PORTS
        made[has_ip & larger[some]] = LARGER
        level[some] = made
    return level

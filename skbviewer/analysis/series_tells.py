# SPDX-License-Identifier: MIT
"""What the records of a packet life tell of the whole life: when it ended, which skb it was, who.

In: the records of a KBL and their series.  Out: one row a series.  After that nobody asks for the
records themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..matching import LegTable, SeriesTable, passing
from ..records import IDENTITY_DTYPE, ColumnTable, Records, RecordTable, part, room_of

ETH_P_ARP = 0x0806
ARP, IP, PORTS = 1, 2, 3  # how much a record shows of the packet's identity
IDENTITY = ("ifindex", "netns", "skb_len", *(IDENTITY_DTYPE.names or ()))

Index = npt.NDArray[np.int64]
Columns = dict[str, npt.NDArray[np.generic]]


class SeriesTells(NamedTuple):
    """Columns, one row a series.

    `ordinal` is of the record to show, `identity` of the one that shows the packet best (-1: none),
    which is_ip where that shows an IP header.
    """

    end_ns: Index
    skb: Index
    ordinal: npt.NDArray[np.int32]
    identity: npt.NDArray[np.int32]
    is_ip: npt.NDArray[np.bool_]
    rows: Records | ColumnTable
    number: npt.NDArray[np.int32]  # of the identity's row in `rows`, -1 = none

    def columns(self, some: slice) -> Columns:
        """The columns of table `series` that tell the identity, -1 or 0 where none is known."""
        number = self.number[some]
        known = np.flatnonzero(number >= 0)
        shown = number[known].astype(np.int64)
        made: Columns = {}
        for name in IDENTITY:
            values = part(self.rows, name, shown)
            made[name] = values
            if len(known) < len(number):
                made[name] = np.full(len(number), _unknown(name, values.dtype), values.dtype)
                made[name][known] = values
        return made


def _unknown(name: str, dtype: np.dtype[np.generic]) -> int:
    return -1 if dtype.kind == "i" and not name.endswith(("_hi", "_lo")) else 0


def told(records: Records, series: SeriesTable, legs: LegTable) -> SeriesTells:
    """Identities are of the first record that shows ports, else an IP header, else ARP."""
    count = len(series.parent)
    skb = np.zeros(count + 1, np.int64)  # the last is that of no series
    first, best = np.full(count + 1, -1, np.int32), np.full((4, count + 1), -1, np.int32)
    level, number = _levels(records)
    for rows in passing(records, backwards=True):  # so that the earliest is written last
        owner = series.of[rows][::-1].astype(np.int64)
        item = np.arange(rows.stop - 1, rows.start - 1, -1, dtype=np.int32)
        first[owner] = item
        address = part(records, "skb", rows)[::-1]
        holds = np.flatnonzero(address)  # an allocator's entry has no skb yet
        skb[owner[holds]] = address[holds]
        shows = level[number[rows]][::-1]
        for least in (ARP, IP, PORTS):
            mine = np.flatnonzero(shows == least)
            best[least][owner[mine]] = item[mine]
    ip = np.where(best[PORTS] >= 0, best[PORTS], best[IP])[:count]
    identity = np.where(ip >= 0, ip, best[ARP][:count])
    shown = np.where(identity >= 0, identity, first[:count])
    ordinal = part(records, "ordinal", shown).astype(np.int32)
    own = np.where(identity >= 0, part(records, "ordinal", identity), -1).astype(np.int32)
    rows_of: Records | ColumnTable = records
    if isinstance(records, RecordTable):
        rows_of = records.footprints
    numbers = np.where(identity >= 0, number[identity], -1).astype(np.int32)
    begin = np.flatnonzero(np.r_[True, np.diff(legs.rows.stored("series")) != 0][: len(legs.rows)])
    ends = np.maximum.reduceat(legs.last_ns, begin) if len(begin) else legs.last_ns
    keep = room_of(records).keep
    return SeriesTells(
        keep(ends), keep(skb[:count]), keep(ordinal), keep(own), ip >= 0, rows_of, keep(numbers)
    )


def _levels(records: Records) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """How much each footprint shows, and the footprint of each record."""
    rows: Records | ColumnTable = records
    number = np.arange(len(records), dtype=np.int32)
    if isinstance(records, RecordTable):
        rows, number = records.footprints, records.footprint
    level = (rows["ethertype"] == ETH_P_ARP).astype(np.uint8)
    has_ip = rows["ip_version"] != 0  # on the way out the ports are written after the addresses
    level[has_ip] = IP
    level[has_ip & (rows["sport"] > 0)] = PORTS
    return level, number

# SPDX-License-Identifier: MIT
"""Find lifetimes whose IP header the log does not show, and the packets that they may carry.

Input: the tap moments of a log, and the packets' times on the log's clock.  Output: the moments of
these lifetimes, and a flag for each packet.  A log may lack the record with an skb's footprint, but
have the call of the packet socket that got the skb.  Identity cannot pair a lifetime without a
known IP header with a packet.  So a packet that may have been captured at a moment of such a
lifetime has one more candidate, which stays unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...records import ColumnTable, Packets
from ...records.types import EARLIEST_NS, Bools, Int64s
from ..arrays.hash_join import spread
from ..record_kinds import IP, is_among

if TYPE_CHECKING:
    from ..identity.identity_columns import Footprints
    from ..legs.leg_cutting import LegTable
    from ..match_types import KernelSide

PAIRS = 1_000_000  # most pairs of packets and moments with equal contents that are compared singly


def without_header(moments: ColumnTable, legs: LegTable, prints: Footprints) -> Int64s:
    """Return rows of `moments` whose lifetimes may carry IP, but show no IP header.

    `prints` are the footprints that show an IP header.
    """
    named = np.zeros(len(moments) and int(moments["series"].max()) + 1, np.bool_)
    named[prints.series[prints.series < len(named)]] = True
    kind = np.asarray(legs.rows["ethertype"])[moments["leg"]]
    here = np.array(moments["socket"] if moments["socket"].any() else moments["met"], np.bool_)
    here &= ~named[moments["series"]] & ((kind <= 0) | is_among(kind, IP))
    return np.flatnonzero(here)


def may_hold(
    packets: Packets, kernel: KernelSide, at: Int64s, error: Int64s, here: Bools, whole: bool
) -> Bools:
    """Return for each packet whether it may have been captured at one of the headerless moments.

    By packet: `at` is its time on the log's clock, and `error` the clock's possible error then
    (ns).  By moment: `here` is True if the capture may have been taken at its device.  `whole`
    means that the capture shows the packets as this host's sockets got them, so a packet and its
    moment must have the same content.
    """
    rows = kernel.headerless[here[kernel.headerless]]
    low, high = at - error, at + error
    if not whole:
        return _overlap(kernel.moments, rows, low, high)
    given = np.asarray(kernel.moments.part("content", rows), np.int64)
    carried = np.asarray(packets["content"], np.int64)
    held = _overlap(kernel.moments, rows[given < 0], low, high)
    blind = carried < 0
    held[blind] |= _overlap(kernel.moments, rows, low[blind], high[blind])
    rest = np.flatnonzero(~held & ~blind)
    held[rest] = _equal(kernel.moments, rows[given >= 0], carried[rest], low[rest], high[rest])
    return held


def _overlap(moments: ColumnTable, rows: Int64s, low: Int64s, high: Int64s) -> Bools:
    """Return for each span from `low` to `high` (ns) whether it overlaps the window of a moment."""
    after = np.asarray(moments.part("after", rows), np.int64)
    order = np.argsort(after, kind="stable")
    before = np.asarray(moments.part("before", rows[order]), np.int64)
    ends = np.maximum.accumulate(np.append(np.int64(EARLIEST_NS), before))
    return np.asarray(ends[np.searchsorted(after[order], high, "right")] >= low, np.bool_)


def _equal(moments: ColumnTable, rows: Int64s, content: Int64s, low: Int64s, high: Int64s) -> Bools:
    """Return for each span whether it overlaps a moment with the same content as the span.

    Only the moments in the rows `rows` are compared.  Returns True for all spans if too many pairs
    would have to be compared.
    """
    given = np.asarray(moments.part("content", rows), np.int64)
    order = np.argsort(given, kind="stable")
    first = np.searchsorted(given[order], content, "left")
    count = np.searchsorted(given[order], content, "right") - first
    made = count > 0
    if int(count.sum()) <= PAIRS:
        span, place = spread(first, count, order)
        after, before = (moments.part(name, rows[place]) for name in ("after", "before"))
        made[:] = False
        made[span[(after <= high[span]) & (before >= low[span])]] = True
    return made

# SPDX-License-Identifier: MIT
"""What the packet list shows about a row's legs: process, drop, and whether the packet was lost.

Input: columns of the legs of packets or skb lifetimes, from a session, and the legs whose drops
lost their packets (breakdown/lost_packets.py).  Output: one summary for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..records.types import Bools
from ..store.packet_list_queries import LegSummary
from .words.kernel_log_names import Names

NamesOf = Callable[[int], Names]  # takes a source id


class RowSummary(NamedTuple):
    """Process and drop of a row, as in PacketRow; `lost` says whether the drop lost the packet."""

    process: str = ""
    drop: str = ""
    place: str = ""
    lost: bool = False


def row_summaries(
    legs: Iterable[LegSummary], names: NamesOf, lost_legs: Callable[[], Bools]
) -> dict[int, RowSummary]:
    """Return for each row of the packet list the process that sent or received it, and a drop.

    The drop is the first one that lost the packet or, if none did, the first one.  `legs` are the
    legs of the rows to summarise.  `lost_legs` returns for each leg of the session whether a drop
    in it lost its packet.
    """
    found: dict[int, RowSummary] = {}
    read = set()
    for leg in legs:
        summary, known = found.get(leg.row, RowSummary()), names(leg.source)
        if leg.reader_ns >= 0:
            read.add(leg.row)
        if not summary.process and leg.pid > 0:
            summary = summary._replace(
                process=f"{known.tasks.get(leg.pid, '')} [{leg.pid}]".strip()
            )
        if leg.drop_reason >= 0 and (not summary.drop or not summary.lost):
            summary = _dropped(summary, leg, known, bool(lost_legs()[leg.leg - 1]))
        found[leg.row] = summary
    for row in read:  # a process received the packet, whatever was dropped
        found[row] = found[row]._replace(lost=False)
    return found


def _dropped(summary: RowSummary, leg: LegSummary, names: Names, lost: bool) -> RowSummary:
    """Return the summary with the drop in `leg`; a drop that lost the packet replaces others."""
    if summary.drop and not lost:
        return summary
    place = names.symbol_at_offset((leg.drop or 0) >> 32)
    return summary._replace(drop=names.drop_reason(leg.drop_reason), place=place, lost=lost)

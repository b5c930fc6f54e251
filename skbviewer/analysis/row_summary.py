# SPDX-License-Identifier: MIT
"""Facts that the packet list shows of a row's legs: process, drop, and whether it was lost.

Input: columns of the legs of packets or skb lifetimes, from a session.  Output: a summary by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..store.packet_list_queries import LegSummary
from .words.kernel_names import Names

NamesOf = Callable[[int], Names]  # takes a source id
FREED_WITH_ITS_WHOLE = "skb_release_data"  # frees a fragment together with its packet
PURGED = "sk_stream_kill_queues"  # frees unread data when a socket is closed


class RowSummary(NamedTuple):
    """Process and drop of a row, as in PacketRow.

    `lost` says whether the drop lost the packet.  If the drop was `purged`, a closed socket freed
    it: then only packets with data are lost.
    """

    process: str = ""
    drop: str = ""
    place: str = ""
    lost: bool = False
    purged: bool = False


def row_summaries(legs: Iterable[LegSummary], names: NamesOf) -> dict[int, RowSummary]:
    """Return, by row of the packet list, the thread that sent or received it, and its first drop.

    `legs` are the legs of these rows.
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
            summary = _dropped(summary, leg, known)
        found[leg.row] = summary
    for row in read:  # a process received the packet, whatever was dropped
        found[row] = found[row]._replace(lost=False, purged=False)
    return found


def _dropped(summary: RowSummary, leg: LegSummary, names: Names) -> RowSummary:
    """Return the summary with a drop added to it.

    The drop is not a loss if other copies remain, or if a socket has the data already.  The field
    kbl.lost has the same rule.
    """
    place = names.symbol_at_offset((leg.drop or 0) >> 32)
    purged = place.startswith(PURGED)
    lost = not (leg.in_socket or purged or place.startswith(FREED_WITH_ITS_WHOLE))
    if summary.drop and not lost:
        return summary._replace(purged=summary.purged or purged)  # keep the first drop
    reason = names.drop_reason(leg.drop_reason)
    return summary._replace(drop=reason, place=place, lost=lost, purged=purged)

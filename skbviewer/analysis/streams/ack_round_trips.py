# SPDX-License-Identifier: MIT
"""The TCP segment that each packet acknowledges, as in Wireshark's tcp.analysis.ack_rtt.

Input: the packets of all TCP streams of a session.  Output: for each packet, the row of the segment
that ends at the packet's acknowledgment number.  A segment waits until the other direction
acknowledges its end, or later bytes.  If several waiting segments end at the acknowledgment number,
the packet acknowledges the oldest one.  Waiting segments that end before the acknowledgment number
are removed, because nothing will acknowledge them.
"""

from __future__ import annotations

import numpy as np

from ...records import Progress
from ...records.compiled import compiled
from ...records.types import Int64s
from ..fields.field_source_tables import PACKET, Data
from ..fields.stream_fields import SYN, starts, streams_of

FIN = 0x01
ACKED = "acknowledged segments"  # name under which the result is cached
MOST_WAITING = 10_000  # most segments of a direction that are remembered, as in Wireshark
PART = 1 << 20  # number of segments that are processed together


def acknowledged_segments(data: Data, progress: Progress) -> Int64s:
    """Return for each packet the 0-based row of the segment that it acknowledges; -1 = none.

    The rows are computed only once per session.  Raises Cancelled.
    """
    found: Int64s = data.cached(ACKED, lambda: _acknowledged(data, progress))
    return found


def _acknowledged(data: Data, progress: Progress) -> Int64s:
    streams, view = streams_of(data, "tcp"), data.packets()
    found = np.full(data.columns.length(PACKET), -1, np.int64)
    waiting = np.zeros((2, MOST_WAITING, 2), np.int64)
    done = 0
    for part in streams.parts(PART):
        progress.report("Measuring round trips", done, len(streams.rows))
        done += len(part.rows)

        def of(name: str, rows: Int64s = part.rows) -> Int64s:
            return view.column(name)[rows].astype(np.int64)

        flags = of("tcp_flags")
        size = np.maximum(of("payload"), 0)
        size += ((flags & (SYN | FIN)) != 0).astype(np.int64)
        answered = np.full(len(part.rows), -1, np.int64)
        begin, way = starts(part.stream), part.direction.astype(np.int64)
        _answer(begin, way, of("seq"), of("ack"), size, waiting, answered)
        known = answered >= 0
        found[part.rows[known]] = part.rows[answered[known]]
    return found


@compiled
def _answer(
    begin: Int64s,
    way: Int64s,
    seq: Int64s,
    ack: Int64s,
    size: Int64s,
    waiting: Int64s,
    answered: Int64s,
) -> None:
    """Set answered[i] to the index of the segment that segment i acknowledges.

    `begin` is the index at which the stream of each segment begins.  `waiting` is scratch space.
    `waiting` holds, for each direction, the ends and indices of segments that are not acknowledged
    yet, the oldest first.
    """
    count = np.zeros(2, np.int64)
    for at in range(len(seq)):
        if begin[at] == at:
            count[:] = 0
        mine, other = way[at], 1 - way[at]
        if size[at] > 0 and count[mine] < len(waiting[mine]):
            waiting[mine, count[mine], 0] = (seq[at] + size[at]) & 0xFFFFFFFF
            waiting[mine, count[mine], 1] = at
            count[mine] += 1
        kept = 0
        for one in range(count[other]):
            end = waiting[other, one, 0]
            if ((end - ack[at] + 0x80000000) & 0xFFFFFFFF) > 0x80000000:  # beyond `ack`
                waiting[other, kept, 0] = end
                waiting[other, kept, 1] = waiting[other, one, 1]
                kept += 1
            elif end == ack[at] and answered[at] < 0:
                answered[at] = waiting[other, one, 1]
        count[other] = kept

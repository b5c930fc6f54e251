# SPDX-License-Identifier: MIT
"""Sequence numbers of TCP packets that no capture has, relative to the streams in captures.

An skb lifetime belongs to a stream if the captures have exactly one stream between the same
endpoints.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Int64s
from ..fields.field_source_tables import SERIES, Data, View
from ..fields.packet_fields import is_tcp
from ..fields.stream_fields import MIX, SYN, bases_of, keys_of_ends, streams_of
from ..fields.tcp_analysis import analysis_of
from .tcp_info_column_text import SegmentSummary

MASK32 = 0xFFFFFFFF


def lifetime_summaries(data: Data, numbers: Int64s) -> dict[int, SegmentSummary]:
    """Return the TCP summaries of the rows K<n> for each n in `numbers`, by n.

    Rows that belong to no stream are left out.
    """
    every = data.kernel_only_rows()
    numbers = numbers[(numbers > 0) & (numbers <= len(every))]
    rows = every[numbers - 1]
    view = View(data, SERIES, rows)
    mine = np.flatnonzero(is_tcp(view) & (view.column("tcp_flags") >= 0))
    stream, way = _streams(data, view, mine)
    found: dict[int, SegmentSummary] = {}
    bases, shifts = bases_of(data), analysis_of(data).shift
    seq, ack, flags = (
        view.column(name)[mine].astype(np.int64) for name in ("seq", "ack", "tcp_flags")
    )
    for at in np.flatnonzero(stream >= 0).tolist():
        one, out = int(stream[at]), int(way[at])
        if not bases.known[one, out]:
            continue
        shift = 0 if flags[at] & SYN else int(shifts[one, out])
        own = int(seq[at] - bases.base[one, out]) & MASK32
        other = int(ack[at] - bases.base[one, 1 - out]) & MASK32
        found[int(numbers[mine[at]])] = SegmentSummary(own, other, shift, "", False)
    return found


def _streams(data: Data, view: View, rows: Int64s) -> tuple[Int64s, Int64s]:
    """Return the stream (-1 = none) of each of `rows`, and the direction in that stream."""
    streams = streams_of(data, "tcp")
    stream = np.full(len(rows), -1, np.int64)
    ends, way = keys_of_ends(view, rows)
    if not len(streams.key):
        return stream, way.astype(np.int64)
    for source in [each.id for each in data.sources if not each.kind.is_log]:
        key = ends * np.uint64(MIX[1]) + np.uint64(source)
        first = np.searchsorted(streams.key, key)
        last = np.searchsorted(streams.key, key, "right") - 1
        there = np.flatnonzero(last >= first)
        begin, end = streams.stream[first[there]], streams.stream[last[there]]
        alone = there[begin == end]
        stream[alone] = np.where(stream[alone] < 0, begin[begin == end], stream[alone])
    return stream, way.astype(np.int64)

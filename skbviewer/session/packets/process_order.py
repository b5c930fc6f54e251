# SPDX-License-Identifier: MIT
"""Sort rows by the thread in the column Process: the thread of the row's first leg that has one."""

from __future__ import annotations

import numpy as np

from ...analysis.fields.field_source_tables import LEG, PACKET, SERIES, Array, Data
from ...records.types import INT64_MAX, Int64s
from ..annotation_places import RowIds

WORD = "process"


def sorted_ids(data: Data, ids: RowIds, descending: bool) -> RowIds:
    """Return `ids` sorted by the name and the number of their threads.

    Rows without a thread come last; equal rows keep their order.
    """
    ranks = _leg_ranks(data)
    key = np.full(len(ids), -1, np.int64)
    packets, lives = ids > 0, ids < 0
    if packets.any():
        match = data.columns.array("match", "packet") - 1, data.columns.array("match", "leg") - 1
        key[packets] = _first(data, *match, ranks, data.columns.length(PACKET))[ids[packets] - 1]
    if lives.any():
        row = data.columns.array(LEG, "series") - 1
        found = _first(data, row, np.arange(len(row)), ranks, data.columns.length(SERIES))
        key[lives] = found[data.kernel_only_rows()[-ids[lives] - 1]]
    last = key < 0
    return ids[np.lexsort((-key if descending else key, last))]


def _leg_ranks(data: Data) -> Int64s:
    """Return for each leg the rank of its thread by name and number; -1 without a thread."""
    pid = data.columns.array(LEG, "pid").astype(np.int64)
    source = data.columns.array(LEG, "source").astype(np.int64)
    pairs, at = np.unique(source << 32 | np.maximum(pid, 0), return_inverse=True)
    threads = [(pair >> 32, pair & 0xFFFFFFFF) for pair in pairs.tolist()]
    texts = [(data.names(log).tasks.get(number, "").lower(), number) for log, number in threads]
    place = {text: rank for rank, text in enumerate(sorted(set(texts)))}
    ranks = np.array([place[text] for text in texts], np.int64)[at]
    return np.where(pid > 0, ranks, -1)


def _first(data: Data, row: Array, leg: Array, ranks: Int64s, count: int) -> Int64s:
    """Return for each row the rank of its first leg that has a rank; -1 if none has.

    Leg `leg[n]` belongs to row `row[n]`; both are 0-based; there are `count` rows.
    """
    there = ranks[leg] >= 0
    row, leg = row[there], leg[there]
    begin = _begin(data)[leg]
    first = np.full(count, INT64_MAX, np.int64)
    np.minimum.at(first, row, begin)
    earliest = np.flatnonzero(begin == first[row])[::-1]  # of equal times, the first leg stays
    found = np.full(count, -1, np.int64)
    found[row[earliest]] = ranks[leg[earliest]]
    return found


def _begin(data: Data) -> Int64s:
    """Return when each leg began (ns); if there are several logs, on the captures' clock."""
    begin = data.columns.array(LEG, "begin_ns").astype(np.int64)
    logs = data.logs()
    if len(logs) > 1:
        source = data.columns.array(LEG, "source")
        for log in logs:
            begin[source == log] = data.fitted(log, begin[source == log])
    return begin

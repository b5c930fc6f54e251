# SPDX-License-Identifier: MIT
"""A whole session at a glance: how many calls and packets when, what was lost, where drops were.

In: column chunks, the time base, the gaps of the KBLs.  Out: an Overview; times are ns of session
time since `t0_ns`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .timeline import Clock, Columns

BINS = 2048
DROP_EVENT = 7  # kbl.h KBL_EV_DROP
_PART = 1 << 20  # calls looked at together

Index = npt.NDArray[np.int64]


class Gap(NamedTuple):
    """Records of a CPU that were lost: `why` is kbl.h's enum kbl_lost."""

    begin: int
    end: int
    cpu: int
    source: int
    lost: int
    why: int


class Overview(NamedTuple):
    """`calls` and `packets` are numbers per BINS-th of span_ns; `drops` is sorted."""

    t0_ns: int
    span_ns: int
    calls: Index
    packets: Index
    gaps: tuple[Gap, ...]
    drops: Index


def overview(
    columns: Columns,
    clock: Clock,
    captures: Sequence[tuple[int, int, int]],
    gaps: Sequence[Gap],
) -> Overview:
    """`captures` are (source, first packet's row, count); `gaps` are in their KBL's clock."""
    gaps = [_in_session(gap, clock) for gap in gaps]
    times = [_of_calls(columns, clock), *_of_packets(columns, clock, captures)]
    drops = np.sort(_of_drops(columns, clock))
    ends = [(int(t.min()), int(t.max())) for t in (*times, drops) if len(t)]
    ends += [(gap.begin, gap.end) for gap in gaps]
    t0 = min((low for low, _ in ends), default=0)
    span = max((high for _, high in ends), default=t0) - t0 + 1
    packets = sum((_density(t, t0, span) for t in times[1:]), np.zeros(BINS, np.int64))
    moved = tuple(gap._replace(begin=gap.begin - t0, end=gap.end - t0) for gap in gaps)
    return Overview(t0, span, _density(times[0], t0, span), packets, moved, drops - t0)


def _in_session(gap: Gap, clock: Clock) -> Gap:
    begin, end = clock.to_session(gap.source, np.array([gap.begin, gap.end], np.int64)).tolist()
    return gap._replace(begin=begin, end=end)


def _by_source(ts: Index, source: npt.NDArray[np.integer], clock: Clock) -> Index:
    at = np.empty(len(ts), np.int64)
    for one in np.unique(source).tolist():
        mine = source == one
        at[mine] = clock.to_session(one, ts[mine])
    return at


def _of_calls(columns: Columns, clock: Clock) -> Index:
    entry = columns.array("call", "entry_ns").astype(np.int64)
    source = columns.array("leg", "source")
    if not len(source) or source.min() == source.max():
        return clock.to_session(int(source[0]) if len(source) else 0, entry)
    return _by_source(entry, source[columns.array("call", "leg") - 1], clock)


def _of_packets(
    columns: Columns, clock: Clock, captures: Sequence[tuple[int, int, int]]
) -> list[Index]:
    ts = columns.array("packet", "ts")
    return [
        clock.to_session(source, ts[first : first + count].astype(np.int64))
        for source, first, count in captures
    ]


def _of_drops(columns: Columns, clock: Clock) -> Index:
    at = np.flatnonzero(columns.array("event", "event") == DROP_EVENT)
    ts = columns.array("event", "ts")[at].astype(np.int64)
    return _by_source(ts, columns.array("event", "source")[at], clock)


def _density(at: Index, t0: int, span: int) -> Index:
    tally = np.zeros(BINS, np.int64)
    for begin in range(0, len(at), _PART):
        part = at[begin : begin + _PART]
        # doubles hold ns of a session exactly; a long one's times BINS do not fit into 64 bits
        place = ((part - t0) * (BINS / span)).astype(np.int64)
        tally += np.bincount(np.minimum(place, BINS - 1), minlength=BINS)
    return tally

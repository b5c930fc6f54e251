# SPDX-License-Identifier: MIT
"""An overview of a whole session: calls and packets over time, losses and drops.

Input: column chunks, the time base, and the gaps in the KBLs.  Output: an Overview; its times are
in ns of session time since `t0_ns`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import UNTIMED
from ...records.kernel_events import DROP
from ...records.types import Int64s
from .packet_session_times import Clock, Columns, packet_times

BINS = 2048


class Gap(NamedTuple):
    """A gap in the records of a CPU; `why` is a number of kbl.h's enum kbl_lost, or HOLE."""

    begin: int
    end: int
    cpu: int
    source: int
    lost: int
    why: int


class Overview(NamedTuple):
    """The calls and packets of a session over time, and its gaps and drops.

    `span_ns` is divided into BINS equal parts.  `calls` and `packets` are the numbers of calls and
    packets in each part.  `drops` are the times of drops, rising.  All times are in ns since t0_ns.
    """

    t0_ns: int
    span_ns: int
    calls: Int64s
    packets: Int64s
    gaps: tuple[Gap, ...]
    drops: Int64s


def overview(
    columns: Columns,
    clock: Clock,
    captures: Sequence[tuple[int, int, int]],
    gaps: Sequence[Gap],
) -> Overview:
    """Return the overview of a session: its span of time, calls and packets over time, gaps, drops.

    `captures` are (source, row of the first packet, number of packets).  The times of `gaps` are on
    the clocks of their KBLs.
    """
    gaps = [_in_session(gap, clock) for gap in gaps]
    drops = np.sort(_of_drops(columns, clock))
    ends = [(int(t.min()), int(t.max())) for t in (drops,) if len(t)]
    ends += [(gap.begin, gap.end) for gap in gaps]
    kinds: tuple[Callable[[], Iterator[Int64s]], ...] = (
        lambda: _of_calls(columns, clock),
        lambda: _of_packets(columns, clock, captures),
    )
    ends += [(int(t.min()), int(t.max())) for kind in kinds for t in kind() if len(t)]
    t0 = min((low for low, _ in ends), default=0)
    span = max((high for _, high in ends), default=t0) - t0 + 1
    calls, packets = (
        sum((_density(part, t0, span) for part in kind()), np.zeros(BINS, np.int64))
        for kind in kinds
    )
    moved = tuple(gap._replace(begin=gap.begin - t0, end=gap.end - t0) for gap in gaps)
    return Overview(t0, span, calls, packets, moved, drops - t0)


def _in_session(gap: Gap, clock: Clock) -> Gap:
    begin, end = clock.to_session(gap.source, np.array([gap.begin, gap.end], np.int64)).tolist()
    return gap._replace(begin=begin, end=end)


def _by_source(ts: Int64s, source: npt.NDArray[np.integer], clock: Clock) -> Int64s:
    at = np.empty(len(ts), np.int64)
    for one in np.unique(source).tolist():
        mine = source == one
        at[mine] = clock.to_session(one, ts[mine])
    return at


def _of_calls(columns: Columns, clock: Clock) -> Iterator[Int64s]:
    """Yield the session times of calls in blocks, to save memory."""
    source = columns.array("leg", "source")
    one = int(source[0]) if len(source) and source.min() == source.max() else 0
    if one or not len(source):
        for _, (entry,) in columns.pieces("call", "entry_ns"):
            yield clock.to_session(one, entry.astype(np.int64))
        return
    for _, (entry, leg) in columns.pieces("call", "entry_ns", "leg"):
        yield _by_source(entry.astype(np.int64), source[leg - 1], clock)


def _of_packets(
    columns: Columns, clock: Clock, captures: Sequence[tuple[int, int, int]]
) -> Iterator[Int64s]:
    for begin, (ts,) in columns.pieces("packet", "ts"):
        for source, first, count in captures:
            low = max(first - begin, 0)
            mine = ts[low : max(first + count - begin, 0)].astype(np.int64)
            timed = np.flatnonzero(mine != UNTIMED)
            if len(timed):
                yield packet_times(columns, clock, source, timed + (begin + low), mine[timed])


def _of_drops(columns: Columns, clock: Clock) -> Int64s:
    found = [np.zeros(0, np.int64)]
    for _, (event, ts, source) in columns.pieces("event", "event", "ts", "source"):
        at = np.flatnonzero(event == DROP)
        found.append(_by_source(ts[at].astype(np.int64), source[at], clock))
    return np.concatenate(found)


def _density(at: Int64s, t0: int, span: int) -> Int64s:
    # Doubles hold ns of a session exactly; ns times BINS may not fit in 64 bits.
    place = ((at - t0) * (BINS / span)).astype(np.int64)
    return np.bincount(np.minimum(place, BINS - 1), minlength=BINS)

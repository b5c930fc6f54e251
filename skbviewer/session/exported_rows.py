# SPDX-License-Identifier: MIT
"""Select the rows of an export, and write the packet list to a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.timeline.session_time import Clock, packet_times
from ..export import write_packets_csv
from ..records import PacketRow, SeriesRow, SourceRow
from ..store import Columns
from .annotation_places import RowIds
from .kernel.timeline_answers import MOST_IDS

PAGE = 512


def lane_ids(
    session: Any, clock: Clock, text: str, times: tuple[int, int] | None
) -> tuple[int, ...]:
    """Return the first MOST_IDS rows that match a filter; each gets a lane.

    `times` (session time, ns) leaves out packets captured at other times.
    """
    ids: RowIds | None = session.select(text)
    if times is None:
        numbers = range(1, min(session.packet_count(), MOST_IDS) + 1)
        return tuple(numbers if ids is None else ids[:MOST_IDS].tolist())
    found = np.arange(1, session.packet_count() + 1) if ids is None else ids[ids > 0]
    return tuple(captured_between(session.columns, clock, found, times)[:MOST_IDS].tolist())


def captured_between(
    columns: Columns, clock: Clock, packets: RowIds, times: tuple[int, int]
) -> RowIds:
    """Return those of `packets` that were captured in a range of session time, ns."""
    ts = columns.array("packet", "ts")[packets - 1].astype(np.int64)
    source = columns.array("packet", "source")[packets - 1]
    for one in np.unique(source).tolist():
        mine = np.flatnonzero(source == one)
        ts[mine] = packet_times(columns, clock, one, packets[mine] - 1, ts[mine])
    return packets[(ts >= times[0]) & (ts <= times[1])]


def range_filter(clock: Clock, sources: Sequence[SourceRow], times: tuple[int, int]) -> str:
    """Return a display filter for packets captured in a range of session time, ns.

    The range is converted to the clock of the first capture, or of the KBL if there is no capture.
    If the interfaces of that capture have their own clocks, each is converted by its own.  Rows
    K<n> are compared with the clock of the first interface.
    """
    first = min(sources, key=lambda source: source.kind == "kbl")
    own = np.array(times, np.int64)
    if first.kind == "kbl":
        return _between(own)
    interfaces = clock.interfaces(first.id)
    if not interfaces:
        return _between(clock.to_source(first.id, own))
    others = ", ".join(map(str, interfaces[1:]))
    parts = [f"!(frame.interface_id in {{{others}}})"]
    parts += [f"frame.interface_id == {one}" for one in interfaces[1:]]
    ranges = [_between(clock.to_source(first.id, own, one)) for one in interfaces]
    return " || ".join(f"({part} && {own})" for part, own in zip(parts, ranges, strict=True))


def _between(own: RowIds) -> str:
    begin, end = (f"{at // 10**9}.{at % 10**9:09d}" for at in own.tolist())
    return f"frame.time_epoch >= {begin} && frame.time_epoch <= {end}"


def packets_csv(session: Any, text: str, out: Path) -> None:
    """Write the rows that match a filter to `out`.  Raises FilterError and BadInput."""
    ids: RowIds | None = session.select(text)
    session.follow_streams()
    count = session.packet_count() if ids is None else len(ids)
    lines = ["skbviewer packet list", f"{count} packets"]
    lines += [f"filter: {text}"] if text else []
    lines += [f"{s.kind} {Path(s.path).name} sha256 {s.sha256}" for s in session.sources()]
    write_packets_csv(_pages(session, ids, count), first_ns(session), lines, out)


def first_ns(session: Any) -> int:
    """Return the origin of the Time column, ns since the epoch.

    It is the time of packet 1; in a session without packets, that of row K1.
    """
    packets = session.packets(1, 1)
    if packets:
        return int(packets[0].ts_ns or 0)
    lives = session.kernel_only(1, 1)
    return int(lives[0].time_ns) if lives else 0


def _pages(session: Any, ids: RowIds | None, count: int) -> Iterator[PacketRow | SeriesRow]:
    for first in range(0, count, PAGE):
        last = min(first + PAGE, count)
        some = np.arange(first + 1, last + 1) if ids is None else ids[first:last]
        yield from session.rows(some)

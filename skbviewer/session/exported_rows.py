# SPDX-License-Identifier: MIT
"""Select the rows that an export contains, and write the packet list to a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..analysis.fields.field_source_tables import Data
from ..analysis.timeline.packet_session_times import Clock, packet_times
from ..export import write_packets_csv
from ..readers import PointPackets, point_packets
from ..records import UNTIMED, BadInput, PacketRow, Progress, SeriesRow, Silent, SourceRow, counted
from ..records.types import Int64s, UInt8s
from ..store import Columns
from .annotation_places import RowIds
from .open_session_file import OpenedFile
from .packets.packet_list import PacketList
from .packets.session_fields import Fields

MOST_IDS = 200  # packets that get a lane
PAGE = 512


def lane_ids(
    opened: OpenedFile, packets: PacketList, text: str, times: tuple[int, int] | None
) -> tuple[int, ...]:
    """Return the first MOST_IDS rows that match the display filter `text`.

    If `times` (session time, ns) are given, only packets that were captured within them are
    returned.
    """
    ids = packets.select(text)
    if times is None:
        numbers = range(1, min(packets.count(), MOST_IDS) + 1)
        return tuple(numbers if ids is None else ids[:MOST_IDS].tolist())
    found = np.arange(1, packets.count() + 1) if ids is None else ids[ids > 0]
    clock = opened.timebase()
    return tuple(captured_between(opened.columns, clock, found, times)[:MOST_IDS].tolist())


def captured_between(
    columns: Columns, clock: Clock, packets: RowIds, times: tuple[int, int]
) -> RowIds:
    """Return the rows of `packets` that were captured at begin <= t < end.

    `times` is (begin, end), session time in ns.

    A packet without a time is left out.
    """
    ts = columns.array("packet", "ts")[packets - 1].astype(np.int64)
    timed = ts != UNTIMED
    packets, ts = packets[timed], ts[timed]
    source = columns.array("packet", "source")[packets - 1]
    for one in np.unique(source).tolist():
        mine = np.flatnonzero(source == one)
        ts[mine] = packet_times(columns, clock, one, packets[mine] - 1, ts[mine])
    found: RowIds = packets[(ts >= times[0]) & (ts < times[1])]
    return found


def range_filter(clock: Clock, sources: Sequence[SourceRow], times: tuple[int, int]) -> str:
    """Return a display filter for packets that were captured within `times`, ns of session time.

    The times are converted to the clock of the first capture, or of the KBL if there is no capture.
    If the interfaces of the capture have their own clocks, the times are converted for each
    interface.  For rows K<n>, the clock of the first interface is used.
    """
    first = min(sources, key=lambda source: source.kind.is_log)
    own = np.array(times, np.int64)
    if first.kind.is_log:
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


def packets_csv(
    opened: OpenedFile, packets: PacketList, text: str, out: Path, progress: Progress
) -> None:
    """Write the rows that match the display filter `text` to the file `out`, as CSV.

    Raises FilterError, BadInput and Cancelled.
    """
    ids = packets.select(text, progress=progress)
    packets.follow_streams(progress)
    count = packets.count() if ids is None else len(ids)
    lines = ["skbviewer packet list", counted(count, "packet")]
    lines += [f"filter: {text}"] if text else []
    lines += [f"{s.kind} {Path(s.path).name} sha256 {s.sha256}" for s in opened.sources()]
    write_packets_csv(_pages(packets, ids, count, progress), first_ns(packets), lines, out)


def first_ns(packets: PacketList) -> int:
    """Return the time of the first row, ns since 1970, from which the Time column counts.

    The first row is packet 1; in a session without packets, it is row K1.  Returns 0 if there is no
    row, or if packet 1 has no time.
    """
    first = packets.numbered(1, 1)
    if first:
        return first[0].ts_ns or 0
    lives = packets.kernel_only(1, 1)
    return lives[0].time_ns if lives else 0


def _pages(
    packets: PacketList, ids: RowIds | None, count: int, progress: Progress
) -> Iterator[PacketRow | SeriesRow]:
    for first in range(0, count, PAGE):
        progress.report("writing packets", first, count)
        last = min(first + PAGE, count)
        some = np.arange(first + 1, last + 1) if ids is None else ids[first:last]
        yield from packets.rows(some)


class Exports:
    """What exports need of an open session, besides its rows, paths and statistics."""

    def __init__(self, opened: OpenedFile, packets: PacketList, fields: Fields) -> None:
        self._opened, self._packets, self._fields = opened, packets, fields

    def captured_between(self, packets: RowIds, times: tuple[int, int]) -> RowIds:
        """Return the rows of `packets` that were captured at begin <= t < end.

        `times` is (begin, end), session time in ns.
        """
        clock = self._opened.timebase()
        return captured_between(self._opened.columns, clock, packets, times)

    def first_ns(self) -> int:
        """Return the time from which the Time column counts, ns since 1970."""
        return first_ns(self._packets)

    def to_session(self, source: int, ts: Int64s) -> Int64s:
        """Convert times `ts` (int64, ns) of a source's clock to session time."""
        return self._opened.timebase().to_session(source, ts)

    def field_data(self) -> Data:
        """Return the tables from which the fields of display filters are computed.

        Calls of functions without an skb are left out if the user has chosen to leave them out.
        """
        return self._fields.shown_data()

    def capture_bytes(self, source: int) -> UInt8s:
        """Return the contents of a capture; offsets of packets are positions in them.

        Raises BadInput if the file has moved, has changed its size, or cannot be read.
        """
        return self._packets.payloads().contents(source)

    def point_packets(self, source: int, progress: Progress) -> tuple[PointPackets, UInt8s]:
        """Return the packets in the points of a retis log, and the decompressed log.

        Raises BadInput if the file has moved, has changed its size, or cannot be read; raises
        Cancelled.
        """
        (row,) = (one for one in self._opened.sources() if one.id == source)
        path = Path(row.path)
        if not path.exists() or path.stat().st_size != row.size:
            raise BadInput(path, None, "is missing, or has changed since the import")
        return point_packets(path, progress)

    def lane_ids(self, text: str, times: tuple[int, int] | None) -> tuple[int, ...]:
        """Return the first MOST_IDS rows that match the display filter `text`.

        If `times` (session time, ns) are given, only packets that were captured within them are
        returned.
        """
        return lane_ids(self._opened, self._packets, text, times)

    def packets_csv(self, text: str, out: Path, progress: Progress | None = None) -> None:
        """Write the rows that match the display filter `text` to the file `out`, as CSV.

        Raises FilterError, BadInput and Cancelled.
        """
        packets_csv(self._opened, self._packets, text, out, progress or Silent())

# SPDX-License-Identifier: MIT
"""Make packets for rows K<n>, which no capture contains, from the bytes in another tracer's log.

A kernel log (.kbl) contains values of headers, but no bytes. A retis log contains bytes of packets
at some points. The first point with bytes represents a lifetime.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..analysis.fields.field_source_tables import LEG, Data
from ..readers import PointPackets
from ..records import BadInput, SourceRow, counted
from ..records.types import Int64s, UInt8s
from .chosen_packets import Places
from .chosen_rows import chosen_rows
from .formats import Exportable, Request
from .snap_length import header_bytes, kept_bytes

ETHERNET = 1  # link type of the bytes in a retis log
NO_BYTES = (
    "'--kernel-only': no log of this recording contains bytes of packets (only retis logs can "
    "contain them)"
)


class PointsOfLifetimes(NamedTuple):
    """Points of one log.

    The arrays have 0-based row numbers: `point` in PointPackets, `event` in table event, and
    `series` in table series.
    """

    point: Int64s
    event: Int64s
    series: Int64s


class LogPackets(NamedTuple):
    """Lifetimes of one log, and the packet bytes that represent them, in order of time.

    `number` has the number n of each row K<n>. `series` has the lifetimes (0-based rows of table
    `series`). `event` has the points whose bytes are used (0-based rows of table `event`). The
    bytes of packet k are data[offset[k] :][: caplen[k]]. `ts` is the time of the point, ns since
    the epoch, on the clock of the first capture.
    """

    source: SourceRow
    number: Int64s
    series: Int64s
    event: Int64s
    data: UInt8s
    offset: Int64s
    caplen: Int64s
    length: Int64s
    ts: Int64s

    def places(self, request: Request) -> Places:
        """Return the packets' positions in `data`, and the number of bytes to write of each."""
        zeros = np.zeros(len(self.number), np.int64)
        linktype, headers = zeros + ETHERNET, None
        if not request.payload:
            headers = header_bytes(self.data, linktype, self.offset, self.caplen, self.length)
        kept = kept_bytes(self.caplen, headers, request.snaplen)
        return Places(self.offset, self.caplen, self.length, kept, self.ts, zeros, linktype)

    def part(self, rows: Int64s) -> LogPackets:
        """Return only those packets that are at the positions `rows`."""
        return LogPackets(
            self.source, self.number[rows], self.series[rows], self.event[rows], self.data,
            self.offset[rows], self.caplen[rows], self.length[rows], self.ts[rows],
        )  # fmt: skip


def log_packets(recording: Exportable, request: Request) -> list[LogPackets]:
    """Return the packets of rows K<n> that `request` names, grouped by the log with their bytes.

    The result is empty unless the request asks for kernel-only packets. Raises KeyError if no log
    contains bytes of packets, or of a packet that the request names. Raises FilterError if the
    filter is wrong, BadInput if a log cannot be read, and Cancelled if the user cancels.
    """
    if not request.kernel_only:
        return []
    data = recording.export.field_data()
    wanted = _wanted(recording, request)
    found, holds = [], False
    for source in recording.sources():
        if not source.kind.has_points:
            continue
        points, _ = recording.export.point_packets(source.id, request.progress)
        holds = holds or bool((points.packet >= 0).any())
        found.append(_of_log(data, source, points, wanted))
    if not holds:
        raise KeyError(NO_BYTES)
    for row in request.rows:
        if row < 0 and not any(-row in one.number for one in found):
            raise KeyError(
                f"K{-row}: no log contains the packet's bytes, or an option excludes the packet"
            )
    return [one for one in found if len(one.number)]


def without_bytes(recording: Exportable, request: Request) -> str:
    """Return a line with the number of lifetimes left out because no log has their bytes.

    Returns "" if no lifetime that `request` names is left out.
    """
    if not request.kernel_only or request.rows:
        return ""
    there = sum(len(one.number) for one in log_packets(recording, request))
    missing = len(_wanted(recording, request)) - there
    if not missing:
        return ""
    return f"{counted(missing, 'lifetime')} left out: no log contains the bytes of these packets"


def _wanted(recording: Exportable, request: Request) -> Int64s:
    """Return the numbers n of the rows K<n> that `request` chooses."""
    rows = chosen_rows(recording, request)
    if rows is None:
        return np.arange(1, recording.packets.all_kernel_only_count() + 1)
    return np.asarray(-rows[rows < 0], np.int64)


def _of_log(data: Data, source: SourceRow, points: PointPackets, wanted: Int64s) -> LogPackets:
    point, event, lifetime = points_with_bytes(data, source, points)
    series, first = np.unique(lifetime, return_index=True)  # the first point of each lifetime
    point, event = point[first], event[first]
    number = data.columns.array("series", "kernel_only")[series].astype(np.int64)
    mine = np.isin(number, wanted)
    order = np.argsort(event[mine], kind="stable")  # events are in order of time
    point, event, series, number = (
        column[mine][order] for column in (point, event, series, number)
    )
    packet = points.packet[point]
    ts = data.fitted(source.id, data.columns.take("event", "ts", event).astype(np.int64))
    places = (points.offset[packet], points.caplen[packet], points.length[packet])
    return LogPackets(source, number, series, event, points.data, *places, ts)


def points_with_bytes(data: Data, source: SourceRow, points: PointPackets) -> PointsOfLifetimes:
    """Return the points of lifetimes at which the log has bytes, in order of time.

    Raises BadInput if the log has changed since the import.
    """
    columns = data.columns
    rows = np.flatnonzero(columns.array("event", "source") == source.id)  # all points are events
    same = len(rows) == len(points.ts)
    if not same or (columns.take("event", "ts", rows) != points.ts).any():
        raise BadInput(Path(source.path), None, "has changed since the import")
    leg = columns.take("event", "leg", rows).astype(np.int64)
    shown = np.flatnonzero((points.packet >= 0) & (leg > 0))
    series = columns.take(LEG, "series", leg[shown] - 1).astype(np.int64) - 1
    return PointsOfLifetimes(shown, rows[shown], series)

# SPDX-License-Identifier: MIT
"""The points of displayed lifetimes that only a retis log shows, with their packet bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...analysis.fields.field_source_tables import LEG, PACKET, Data
from ...records import SourceRow
from ...records.types import Int64s, UInt8s
from ..formats import Exportable, Request
from ..packets_from_tracer_log import ETHERNET, LogPackets, points_with_bytes
from ..pseudonyms import Pseudonyms
from ..pseudonyms.packets import with_pseudonyms
from ..snap_length import header_bytes, kept_bytes

EXACT = 0  # verdict


class Point(NamedTuple):
    """A point with packet bytes: time (ns since the epoch), bytes, and the event in the log."""

    ts: int
    data: bytes
    length: int  # of the packet, bytes
    event: bytes


def points_of(
    recording: Exportable, request: Request, packets: Int64s, beside: list[LogPackets]
) -> Iterator[Point]:
    """Yield the points that have packet bytes, log by log, in order of time.

    The points belong to the lifetimes `beside`, and to lifetimes of those `packets` whose bytes are
    in a log. Raises BadInput if a log cannot be read, and Cancelled if the user cancels.
    """
    data = recording.export.field_data()
    lifetimes = _lifetimes(recording, data, packets)
    lifetimes = np.concatenate([lifetimes, *(one.series for one in beside)])
    if not len(lifetimes):
        return
    for source in recording.sources():
        if source.kind.has_points:
            yield from _of_log(recording, data, request, source, lifetimes)


def _lifetimes(recording: Exportable, data: Data, packets: Int64s) -> Int64s:
    """Return the lifetimes (0-based) of those `packets` whose bytes are in a log."""
    own = [source.id for source in recording.sources() if source.kind.is_of_log]
    mine = packets[np.isin(data.columns.take(PACKET, "source", packets - 1), own)]
    exact = data.columns.array("match", "verdict") == EXACT
    rows = np.flatnonzero(exact & np.isin(data.columns.array("match", "packet"), mine))
    leg = data.columns.take("match", "leg", rows).astype(np.int64)
    return data.columns.take(LEG, "series", leg - 1).astype(np.int64) - 1


def _of_log(
    recording: Exportable, data: Data, request: Request, source: SourceRow, lifetimes: Int64s
) -> Iterator[Point]:
    points, log = recording.export.point_packets(source.id, request.progress)
    point, event, series = points_with_bytes(data, source, points)
    mine = np.isin(series, lifetimes)
    point, event = point[mine], event[mine]
    ts = data.fitted(source.id, data.columns.take("event", "ts", event).astype(np.int64))
    number, which = np.unique(points.packet[point], return_inverse=True)
    caplen, length = points.caplen[number], points.length[number]
    bytes_of, offset, kept = _different(points.data, points.offset[number], caplen, length, request)
    for row, place in enumerate(which.tolist()):
        request.progress.report("Writing points", row, len(event))
        begin, at = int(offset[place]), int(point[row])
        shown = bytes_of[begin : begin + int(kept[place])].tobytes()
        raw = log[int(points.begin[at]) : int(points.end[at])].tobytes()
        yield Point(int(ts[row]), shown, int(length[place]), raw)


def _different(
    data: UInt8s, offset: Int64s, caplen: Int64s, length: Int64s, request: Request
) -> tuple[UInt8s, Int64s, Int64s]:
    """Return the distinct packets with pseudonyms: bytes, offsets, and sizes to write."""
    linktype, headers = np.full(len(offset), ETHERNET, np.int64), None
    if not request.payload:
        headers = header_bytes(data, linktype, offset, caplen, length)
    kept = kept_bytes(caplen, headers, request.snaplen)
    if request.pseudonym_key and len(offset):
        names = Pseudonyms(request.pseudonym_key)
        data = with_pseudonyms(data, linktype, offset, caplen, length, names)
    return data, offset, kept

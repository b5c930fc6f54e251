# SPDX-License-Identifier: MIT
"""The place of a capture, if identity leaves several lifetimes to some packets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skbviewer.matching.clock.capture_point_fit import locate
from skbviewer.matching.legs.capture_points import POINT_DTYPE, SOCKET, WIRE
from skbviewer.matching.legs.tap_moments import MOMENT_DTYPE
from skbviewer.records import PACKET_DTYPE, ColumnTable, empty

NETNS, IFB = 9, 3
US, MS = 1000, 1_000_000
COUNT = 60
SENT = np.arange(COUNT, dtype=np.int64) * 20 * MS + 7_000_000_001
WAITED = 1 * MS + 7 * MS * (np.arange(COUNT) * 37 % COUNT) // COUNT
COPIED = np.arange(0, COUNT, 4)  # packets that a qdisc sent twice; the file has the second one


def _points() -> npt.NDArray[np.void]:
    """Points of the lifetimes, then of the copies: received, sent, sent."""
    received, sent = np.zeros(COUNT, POINT_DTYPE), np.zeros(COUNT + len(COPIED), POINT_DTYPE)
    received["series"], sent["series"] = np.arange(COUNT), np.arange(len(sent))
    received["how"], sent["how"], sent["sends"] = WIRE, SOCKET, 1
    received["ts"] = received["after"] = SENT - WAITED
    received["before"] = SENT + 30 * US
    sent["after"] = np.r_[SENT, SENT[COPIED] + 3 * MS]
    sent["before"] = sent["after"] + 20 * US
    sent["ts"] = sent["after"] + 10 * US
    rows = np.concatenate([received, sent])
    rows["netns"], rows["ifindex"], rows["met"] = NETNS, IFB, True
    return rows[np.argsort(rows["series"], kind="stable")]


def _table(rows: npt.NDArray[np.void]) -> ColumnTable:
    return ColumnTable(rows.dtype, {name: rows[name].copy() for name in rows.dtype.names or ()})


def test_packets_with_several_points_count_at_a_place() -> None:
    points = _points()
    moments = np.zeros(len(points), MOMENT_DTYPE)
    for name in ("series", "netns", "ifindex", "sends", "after", "before", "met"):
        moments[name] = points[name]
    moments["begin"], moments["end"] = points["after"], points["before"]
    moments["socket"] = points["how"] == SOCKET
    packets = empty(PACKET_DTYPE, COUNT)
    packets["ts"] = SENT + 10 * US
    packets["ts"][COPIED] += 3 * MS
    packet = np.r_[np.arange(COUNT), COPIED].astype(np.int64)
    series = np.arange(COUNT + len(COPIED), dtype=np.int64)
    found = locate(packets, packet, series, _table(points), _table(moments), lossy=True)
    assert (found.place.how, found.place.sends) in ((SOCKET, None), (SOCKET, 1))
    assert found.clock is not None
    (segment,) = found.clock.segments
    assert abs(segment.offset_ns) <= segment.residual_ns < 100 * US

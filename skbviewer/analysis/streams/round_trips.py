# SPDX-License-Identifier: MIT
"""Round trips of TCP segments, divided at the wire: `skbviewer stats roundtrip`.

A round trip begins with a segment and ends with its acknowledgment.  The kernel log of the host
that sent the segment shows how long its kernel took before the wire, and after the acknowledgment
arrived.  A kernel log of the peer shows how long the peer took.  Each part of a round trip is the
difference between two times in one kernel log, so it has no error of a clock fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...matching import RX, TX
from ...records import UNTIMED
from ...records.types import Bools, Int64s
from ..fields.stream_fields import streams_of
from ..packet_legs import exact_matches
from ..row_number_sets import distinct
from ..timeline.packet_session_times import packet_times
from .ack_round_trips import acknowledged_segments

if TYPE_CHECKING:
    from ..scope import Scope

UNKNOWN = -1


class RoundTrips(NamedTuple):
    """Acknowledged segments, sorted by the number of the acknowledging packet, as int64 arrays.

    `packet` acknowledges `acked`; both are numbers of packets.  `when_ns` is the session time of
    `packet`.  `rtt_ns` is the time between the packets `acked` and `packet` in the capture:
    tcp.analysis.ack_rtt.  The other times are UNKNOWN if a leg, or a record of a leg, is missing:

    send: the time in the sender's kernel, from the segment's first record to the wire.

    outside: the time from the segment's departure at the sender's wire to the arrival of the
    acknowledgment at this wire.

    peer: the part of `outside` from the arrival of the segment at the peer to the departure of the
    answer.

    receive: the time in the sender's kernel, from the wire to the end of the acknowledgment's leg.
    """

    packet: Int64s
    acked: Int64s
    stream: Int64s
    when_ns: Int64s
    rtt_ns: Int64s
    send_ns: Int64s
    outside_ns: Int64s
    peer_ns: Int64s
    receive_ns: Int64s

    @property
    def wire_ns(self) -> Int64s:
        """Return the part of `outside_ns` that was not at the peer; UNKNOWN if not known."""
        known = (self.outside_ns >= 0) & (self.peer_ns >= 0)
        return np.where(known, self.outside_ns - self.peer_ns, UNKNOWN)


class RoundTripRow(NamedTuple):
    """One acknowledged segment with its times; a time is None if it is unknown."""

    packet: int
    acked: int
    stream: int
    rtt_ns: int
    send_ns: int | None
    outside_ns: int | None
    wire_ns: int | None
    peer_ns: int | None
    receive_ns: int | None


class _Ends(NamedTuple):
    """For each packet, the first leg that sent it and the last leg that received it; -1 = none."""

    sent: Int64s
    received: Int64s


def round_trip_rows(scope: Scope) -> list[RoundTripRow]:
    """Return the round trips whose acknowledgments are chosen packets.  Raises Cancelled."""
    found = round_trips(scope)
    parts = (found.send_ns, found.outside_ns, found.wire_ns, found.peer_ns, found.receive_ns)
    known = [[None if ns == UNKNOWN else ns for ns in part.tolist()] for part in parts]
    columns = (found.packet, found.acked, found.stream, found.rtt_ns)
    rows = zip(*(column.tolist() for column in columns), *known, strict=True)
    return [RoundTripRow(*row) for row in rows]


def round_trips(scope: Scope) -> RoundTrips:
    """Return the round trips whose acknowledgments are chosen packets.  Raises Cancelled."""
    if scope.fields is None or not len(scope.packets):
        return RoundTrips(*(np.zeros(0, np.int64) for _ in RoundTrips._fields))
    answered = acknowledged_segments(scope.fields, scope.progress)
    rows = scope.packets - 1
    rows = rows[answered[rows] >= 0]
    ts, before = (
        np.asarray(scope.columns.take("packet", "ts", of), np.int64)
        for of in (rows, answered[rows])
    )
    rtt = ts - before
    timed = (ts != UNTIMED) & (before != UNTIMED) & (rtt != 0)  # tshark shows no 0
    rows, rtt, ts = rows[timed], rtt[timed], ts[timed]
    acked = answered[rows]
    stream = streams_of(scope.fields, "tcp").number[rows].astype(np.int64)
    when = _session_times(scope, rows, ts)
    return RoundTrips(rows + 1, acked + 1, stream, when, rtt, *_parts(scope, rows, acked))


def _session_times(scope: Scope, rows: Int64s, ts: Int64s) -> Int64s:
    source = np.asarray(scope.columns.take("packet", "source", rows), np.int64)
    when = np.empty(len(rows), np.int64)
    for one in np.unique(source).tolist():
        mine = np.flatnonzero(source == one)
        when[mine] = packet_times(scope.columns, scope.clock, one, rows[mine], ts[mine])
    return when


def _parts(scope: Scope, rows: Int64s, acked: Int64s) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Return the times send, outside, peer and receive (ns) of round trips; UNKNOWN if unknown.

    `rows` are the acknowledging packets, `acked` the acknowledged ones, as 0-based rows.
    """
    if not scope.columns.length("leg"):
        nothing = np.full(len(rows), UNKNOWN, np.int64)
        return nothing, nothing, nothing, nothing
    packets = distinct(np.concatenate([rows, acked]))
    ends = _ends(scope, packets)
    rows, acked = np.searchsorted(packets, rows), np.searchsorted(packets, acked)
    sent, back = ends.sent[acked], ends.received[rows]
    arrived, answer = ends.received[acked], ends.sent[rows]

    def of(name: str, legs: Int64s) -> Int64s:  # any value where there is no leg
        return np.asarray(scope.columns.take("leg", name, np.maximum(legs, 0)), np.int64)

    wire = {name: of("wire_ns", legs) for name, legs in (
        ("sent", sent), ("back", back), ("arrived", arrived), ("answer", answer)
    )}  # fmt: skip
    outside, peer = wire["back"] - wire["sent"], wire["answer"] - wire["arrived"]

    def one_host(first: Int64s, last: Int64s, between: Int64s) -> Bools:
        same = (first >= 0) & (last >= 0) & (between >= 0)
        for name in ("source", "netns"):
            same &= of(name, first) == of(name, last)
        return np.asarray(same, np.bool_)

    ours, theirs = one_host(sent, back, outside), one_host(arrived, answer, peer)
    send = wire["sent"] - of("begin_ns", sent)
    receive = of("end_ns", back) - wire["back"]
    whole = ours & theirs & (peer <= outside)
    return (
        np.where((sent >= 0) & (send >= 0), send, UNKNOWN),
        np.where(ours, outside, UNKNOWN),
        np.where(whole | (theirs & ~ours), peer, UNKNOWN),
        np.where((back >= 0) & (receive >= 0), receive, UNKNOWN),
    )


def _ends(scope: Scope, packets: Int64s) -> _Ends:
    """Return the sending and receiving legs of packets; legs that may lack records are left out.

    `packets` are 0-based rows, rising.  The result has an element for each packet.
    """
    columns = scope.columns
    packet, leg = exact_matches(columns, packets + 1)
    gap, kind, wire = (columns.take("leg", name, leg) for name in ("gap", "kind", "wire_ns"))
    place = np.searchsorted(packets, packet - 1)
    found = _Ends(*(np.full(len(packets), -1, np.int64) for _ in _Ends._fields))
    for out, wanted, last in ((found.sent, TX, False), (found.received, RX, True)):
        mine = np.flatnonzero((kind == wanted) & (gap == 0))
        order = mine[np.argsort(wire[mine], kind="stable")]
        order = order if last else order[::-1]  # the last assignment counts
        out[place[order]] = leg[order]
    return found

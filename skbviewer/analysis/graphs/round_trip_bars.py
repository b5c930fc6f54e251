# SPDX-License-Identifier: MIT
"""Round trips over time: the average of each part in intervals, and tshark's ack_rtt.

Input: a Scope, which chooses packets.  Output: arrays with an element for each interval.  The
averages of the parts add up to the average of the whole round trip; percentiles would not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.types import Bools, Int64s
from ..streams.round_trips import UNKNOWN, RoundTrips, round_trips
from .io_graph_series import interval_for, origin_of

if TYPE_CHECKING:
    from ..scope import Scope

Floats = npt.NDArray[np.float64]
SEND, WIRE, PEER = "own kernel, sending", "wire", "peer"
BOTH, RECEIVE = "wire and peer", "own kernel, receiving"
PARTS = (SEND, WIRE, PEER, BOTH, RECEIVE)


class RoundTripBars(NamedTuple):
    """Bars for intervals from `begin_ns` (session time) on; packet 1 was captured at `origin_ns`.

    `number` is how many acknowledgments an interval has.  `median_ns` is the median of ack_rtt in
    the interval (nearest rank), UNKNOWN if it has no acknowledgment.  `parts_ns` has averages by
    part (PARTS) and interval, over the `complete` round trips: those whose parts in the sending
    kernel are known.  The part BOTH is for round trips whose peer has no kernel log.  `first` is
    the number of the first packet that acknowledges data in the interval; 0 = none.
    """

    begin_ns: int
    origin_ns: int
    interval_ns: int
    number: Int64s
    median_ns: Int64s
    complete: Int64s
    parts_ns: Floats
    first: Int64s


def round_trip_bars(scope: Scope) -> RoundTripBars | None:
    """Return a bar for each interval, for the round trips that a chosen packet ended in it.

    Returns None if there is no round trip.  Raises Cancelled.
    """
    found = round_trips(scope)
    if not len(found.packet):
        return None
    begin = int(found.when_ns.min())
    length = interval_for(int(found.when_ns.max()) - begin)
    place = (found.when_ns - begin) // length
    count = int(place.max()) + 1
    complete, parts = _parts(found)
    number = np.bincount(place[complete], minlength=count)
    averages = np.zeros((len(PARTS), count))
    for at, ns in enumerate(parts):
        sums = np.bincount(place[complete], weights=ns[complete], minlength=count)
        averages[at] = sums / np.maximum(number, 1)
    first = np.zeros(count, np.int64)
    order = np.argsort(found.when_ns, kind="stable")[::-1]  # the last assignment counts
    first[place[order]] = found.packet[order]
    return RoundTripBars(
        begin,
        origin_of(scope, begin),
        length,
        np.bincount(place, minlength=count),
        _medians(place, found.rtt_ns, count),
        number,
        averages,
        first,
    )


def _parts(found: RoundTrips) -> tuple[Bools, tuple[Int64s, ...]]:
    """Return which round trips are complete, and for each the parts (ns), in the order of PARTS."""
    known = np.minimum(np.minimum(found.send_ns, found.outside_ns), found.receive_ns)
    wire, peer = found.wire_ns, found.peer_ns
    split = wire != UNKNOWN
    both = np.where(split, 0, found.outside_ns)
    inner = (np.where(split, wire, 0), np.where(split, peer, 0), both)
    return known != UNKNOWN, (found.send_ns, *inner, found.receive_ns)


def _medians(place: Int64s, ns: Int64s, count: int) -> Int64s:
    order = np.lexsort((ns, place))
    number = np.bincount(place, minlength=count)
    begin = np.cumsum(number) - number
    found = np.full(count, UNKNOWN, np.int64)
    there = number > 0
    found[there] = ns[order][(begin + (number - 1) // 2)[there]]
    return found

# SPDX-License-Identifier: MIT
"""Find the tap moments of a log: each time that an skb passes the packet sockets of one device.

Input: a KBL with its series and legs, the calls that hand over an skb, and the calls of packet
sockets.  Output: MOMENT_DTYPE rows, sorted by series.  A packet that a socket of this host captured
belongs to exactly one moment; a moment belongs to at most one packet of each capture.

A packet socket stamps an skb inside tpacket_rcv() or packet_rcv() (net/packet/af_packet.c), or uses
the stamp that the skb got on arrival (net_timestamp_check() in net/core/dev.c).  If the log does
not show the socket's call, the moment is the hand-over to the driver or to the receiving stack.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import ColumnTable, Records, RecordTable, Scratch, narrow, part, pick
from ...records.kernel_events import FOOTPRINT
from ...records.types import LATEST_NS, Bools, Int64s
from ..arrays.hash_join import by_group, is_repeated
from ..lifetimes.skb_lifetimes import SeriesTable
from ..record_kinds import EVENT
from .leg_cutting import LegTable
from .leg_cutting_loops import TX

Rows = npt.NDArray[np.void]

WAIT_NS = 1_000_000_000  # a received packet waits less than this before the stack takes it
UNKNOWN = -1  # no footprint shows the header at a moment

MOMENT_DTYPE = np.dtype(
    [
        ("series", "<i8"),
        ("leg", "<i8"),
        ("netns", "<i8"),
        ("ifindex", "<i8"),
        ("sends", "u1"),  # 1: the packet left by the device
        ("socket", "?"),  # the log shows the call of a packet socket
        ("met", "?"),  # a call shows the pass; otherwise the leg may have passed no device
        ("arrived", "?"),  # the log shows when the skb came to the device: `after`
        ("after", "<i8"),  # ns on the log's clock: the stamp was made at or after this time
        ("before", "<i8"),  # and at or before this one
        ("begin", "<i8"),  # when the socket was called, or the hand-over began
        ("end", "<i8"),
        ("shown", "<i4"),  # the footprint at the moment: a row of Prints.rows, UNKNOWN = none
        (
            "content",
            "<i4",
        ),  # as in PACKET_DTYPE, of the packet that the socket got; UNKNOWN = not recorded
    ]
)
_SMALL = ("series", "leg", "netns", "ifindex", "shown", "content")
_ORDER = ("series", "begin")
PLACE = ("leg", "netns", "ifindex", "sends")


class Arrival(NamedTuple):
    """The earliest time at which the skb of each leg can be stamped.

    By leg: `ns` is the earliest time, and `shown` is True if the log shows it.
    """

    ns: Int64s
    shown: Bools


def perhaps_of_originals(legs: LegTable, is_unborn: Bools, arrival: Arrival) -> Arrival:
    """Return the arrivals; for received skbs without a recorded birth, they are WAIT_NS earlier.

    A received skb without a birth may be a copy that was sent and received within one namespace;
    then it has the stamp of its original.  By series: `is_unborn` is True if the log lacks its
    birth.
    """
    copied = is_unborn[legs.rows["series"]] & (legs.rows["kind"] != TX)
    return Arrival(np.where(copied, arrival.ns - WAIT_NS, arrival.ns), arrival.shown & ~copied)


class Window(NamedTuple):
    """The time in which the skb of each leg can be stamped: from `arrival` to `until`, ns."""

    arrival: Arrival
    until: Int64s


class HandOver(NamedTuple):
    """Calls that hand an skb to a driver, or to the receiving stack.

    Parallel arrays in time order: the record, its leg, whether the leg sends, and whether the call
    began before any sniffer can have stamped the skb at that device.
    """

    record: Int64s
    leg: Int64s
    sends: Bools
    first: Bools


def build(
    records: Records,
    series: SeriesTable,
    legs: LegTable,
    sockets: Rows,
    passes: HandOver,
    window: Window,
    taps: Rows,
    others: Int64s,
    scratch: Scratch,
) -> ColumnTable:
    """Return the moments of all legs, as a table of MOMENT_DTYPE sorted by series.

    `sockets` are calls of packet sockets as POINT_DTYPE with `record`; `passes` are hand-overs to
    devices; `window` says when skbs can be stamped.  `taps` are the contents that packet sockets
    got, where the log shows them.  `others` are legs with calls of another skb, whose lifetime the
    log does not show.
    """
    arrival = _of_the_parent(series, legs, window.arrival)
    window = Window(arrival, window.until)
    handed = _handed(records, series, legs, passes, window)
    called = _called(records, sockets, handed, arrival)
    called["content"] = _given(sockets["record"], taps)
    if len(called):
        handed = _only(handed, ~_among(handed, called))
    handed = _only(handed, ~series.tap[handed["series"]])
    handed = _only(handed, ~_shown_better(handed, called))
    known = np.concatenate([called["leg"], handed["leg"], others[others >= 0]])
    return _table([called, handed, _bare(series, legs, known, window)], scratch)


def _table(parts: list[Rows], scratch: Scratch) -> ColumnTable:
    """Return all rows sorted by series and begin, in columns."""
    columns: dict[str, npt.NDArray[Any]] = {}
    order = by_group(*(np.concatenate([rows[name] for rows in parts]) for name in _ORDER))
    for name in MOMENT_DTYPE.names or ():
        column = np.concatenate([rows[name] for rows in parts])
        columns[name] = scratch.keep((narrow(column) if name in _SMALL else column)[order])
    return ColumnTable(MOMENT_DTYPE, columns, scratch)


def _called(records: Records, sockets: Rows, handed: Rows, arrival: Arrival) -> Rows:
    """Return a moment for each pass of a leg in which packet sockets were called.

    An skb that is sent is stamped after it was handed to the device, in dev_queue_xmit_nit().
    """
    made = np.zeros(len(sockets), MOMENT_DTYPE)
    for name in ("series", "leg", "netns", "ifindex", "sends"):
        made[name] = sockets[name]
    made["socket"] = made["met"] = True
    made["begin"], made["end"] = sockets["after"], sockets["before"]
    since = arrival.ns[sockets["leg"]]
    made["arrived"] = arrival.shown[sockets["leg"]]
    mine, theirs = _same_place(made, handed)
    mine, theirs = (some[made["sends"][mine] == 1] for some in (mine, theirs))
    since[mine] = handed["after"][theirs]
    made["after"] = np.minimum(sockets["after"], since)
    made["before"], made["shown"] = sockets["before"], _shown(records, sockets["record"])
    return made


def _handed(
    records: Records, series: SeriesTable, legs: LegTable, passes: HandOver, window: Window
) -> Rows:
    """Return a moment for the first hand-over of each leg at each device in each direction."""
    made = np.zeros(len(passes.record), MOMENT_DTYPE)
    made["leg"], made["sends"] = passes.leg, passes.sends
    made["series"] = legs.rows["series"][passes.leg]
    shows = _showing(records, passes.record)
    unknown = part(records, "ifindex", shows) <= 0
    for name in ("netns", "ifindex"):
        column = part(records, name, shows)
        made[name] = np.where(unknown, legs.rows[name][passes.leg], column)
    made["met"], made["begin"], made["content"] = True, series.met[passes.record], UNKNOWN
    made["end"] = window.until[passes.leg]
    made["shown"] = _shown(records, shows)
    began: Int64s = legs.rows["begin_ns"][passes.leg]
    since = np.where(passes.sends, began, window.arrival.ns[passes.leg])
    made["arrived"] = window.arrival.shown[passes.leg]
    begin: Int64s = made["begin"]
    made["after"] = np.minimum(np.where(passes.first, begin, since), begin)
    made = _only(made, ~is_repeated(_places(made)))
    begin, end = made["begin"], made["end"]
    made["end"] = made["before"] = np.maximum(end, begin)
    return made


def _showing(records: Records, record: Int64s) -> Int64s:
    """Return the record with the header of each skb; for an event, the footprint before it."""
    event = (part(records, "kind", record) == EVENT) & (record > 0)
    before = np.maximum(record - 1, 0)
    for name in ("skb", "ts", "cpu"):
        event &= part(records, name, before) == part(records, name, record)
    event &= part(records, "event", before) == FOOTPRINT
    return np.where(event, before, record)


def _shown_better(handed: Rows, called: Rows) -> Bools:
    """Return for each hand-over at an unknown device whether a moment in `called` shows the device.

    The moment in `called` must have the same leg and direction as the hand-over.
    """
    unknown = handed["ifindex"] <= 0
    way = 2 * handed["leg"] + handed["sends"]
    shown = np.r_[way[~unknown], (2 * called["leg"] + called["sends"])[called["ifindex"] > 0]]
    made = np.zeros(len(handed), np.bool_)
    made[unknown] = np.isin(way[unknown], shown)
    return made


def _only(rows: Rows, keep: Bools) -> Rows:
    """Return rows[keep], copied field by field: indexing wide rows takes ten times as long."""
    return rows if keep.all() else np.asarray(pick(rows, np.flatnonzero(keep)))


def _bare(series: SeriesTable, legs: LegTable, known: Int64s, window: Window) -> Rows:
    """Return a moment for each leg without a call at a device: the log may have lost such calls."""
    rest = np.ones(len(legs.rows), np.bool_)
    rest[known] = False
    rest &= ~series.tap[legs.rows["series"]]
    leg = np.flatnonzero(rest)
    made = np.zeros(len(leg), MOMENT_DTYPE)
    made["leg"], made["shown"], made["content"] = leg, UNKNOWN, UNKNOWN
    for name in ("series", "netns", "ifindex"):
        made[name] = legs.rows.part(name, leg)
    made["sends"] = legs.rows.part("kind", leg) == TX
    made["begin"] = legs.rows.part("begin_ns", leg)
    since = np.where(made["sends"] == 1, made["begin"], window.arrival.ns[leg])
    made["after"] = np.minimum(since, made["begin"])
    made["before"] = made["end"] = np.maximum(window.until[leg], made["begin"])
    return made


def _of_the_parent(series: SeriesTable, legs: LegTable, arrival: Arrival) -> Arrival:
    """Return the arrival of each leg; a received clone gets the arrival of its original.

    A bridge, for example, sends a clone up the stack, while the original goes to another port.
    """
    owner, parent = legs.rows["series"], series.parent
    first = np.full(len(parent) + 1, LATEST_NS)
    np.minimum.at(first, owner, arrival.ns)
    above = parent[owner]
    cloned = (above >= 0) & (legs.rows["kind"] != TX)
    earlier = cloned & (first[above] < arrival.ns)
    return Arrival(np.where(earlier, first[above], arrival.ns), arrival.shown & ~earlier)


def _given(record: Int64s, taps: Rows) -> npt.NDArray[np.int32]:
    """Return the hash of the content that sockets got in each call; UNKNOWN if not recorded."""
    made = np.full(len(record), UNKNOWN, np.int32)
    taps = taps[np.argsort(taps["record"], kind="stable")]
    if len(taps):
        at = np.minimum(np.searchsorted(taps["record"], record), len(taps) - 1)
        made = np.where(taps["record"][at] == record, taps["content"][at], made)
    return made


def _shown(records: Records, index: Int64s) -> npt.NDArray[np.int64]:
    """Return the footprint of each record of `index`; UNKNOWN if the footprint has no IP header."""
    if isinstance(records, RecordTable):
        number = np.asarray(records.footprint[index], np.int64)
        version = part(records.footprints, "ip_version", number)
    else:
        number, version = index.astype(np.int64), records["ip_version"][index]
    return np.where(version != 0, number, UNKNOWN)


def _places(rows: Rows) -> Int64s:
    """Return a number for each combination of leg, device and direction."""
    netns: Int64s = rows["netns"]
    devices, which = np.unique(netns << 31 | rows["ifindex"], return_inverse=True)
    way: Int64s = 2 * rows["leg"] + rows["sends"]
    return np.asarray(way * len(devices) + which.reshape(-1))


def _among(rows: Rows, others: Rows) -> Bools:
    """Return for each row whether one of `others` is at the same device, in the same leg."""
    made = np.zeros(len(rows), np.bool_)
    made[_same_place(rows, others)[0]] = True
    return made


def _same_place(rows: Rows, others: Rows) -> tuple[Int64s, Int64s]:
    """Return pairs of a row and one of `others` at the same device of its leg; one per row."""
    if not len(rows) or not len(others):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    both = _places(np.concatenate([rows[list(PLACE)], others[list(PLACE)]]))
    _, back = np.unique(both, return_inverse=True)
    back = back.reshape(-1)
    of_place = np.full(int(back.max()) + 1, -1, np.int64)
    of_place[back[len(rows) :]] = np.arange(len(others))
    other = of_place[back[: len(rows)]]
    mine = np.flatnonzero(other >= 0)
    return mine, other[mine]

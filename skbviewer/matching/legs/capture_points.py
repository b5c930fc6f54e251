# SPDX-License-Identifier: MIT
"""Find where and when a sniffer could have captured each leg.

Input: a KBL with its series and legs.  Output: POINT_DTYPE rows, and tap moments.  A sniffer in the
same kernel stamps a packet in a call of a packet socket's function: between entry and exit of
tpacket_rcv (net/packet/af_packet.c), which the log may show.  If the log does not show the call of
a packet socket, the point is where the driver or the stack gets the packet.  While any socket of
the machine wants timestamps, packets are stamped on arrival (net_timestamp_check() in
net/core/dev.c).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import SEEN, ColumnTable, KernelLog, Scratch, narrow, part, scratch_of
from ...records.kernel_events import CLONE, RECEIVE, START_XMIT
from ...records.types import Bools, Int64s
from ..arrays.record_column_blocks import rows_where
from ..kernel_functions import (
    PACKET_SOCKET,
    RECEIVE_START,
    RECEIVE_TAP,
    STAMPS_RECEIVED,
    STAMPS_SENT,
    TRANSMIT,
)
from ..lifetimes.skb_lifetimes import SeriesTable
from ..record_kinds import ENTRY, EVENT, IP, is_among
from . import tap_moments
from .calls_after_skb_release import after_release, until_release
from .declared_losses import ANY, MISSED, Table, losses_inside, meets
from .leg_cutting import LegTable
from .leg_cutting_loops import FORWARD, RX, TX
from .skb_births import births
from .sniffer_copies_without_birth import of_known_skbs, perhaps_copies, unborn
from .tap_moments import WAIT_NS

RECEIVED = RECEIVE_START | frozenset(RECEIVE_TAP)
ONE_NS = 100_000  # all packet sockets get a packet within this time
SOCKET, WIRE, EARLY = 0, 1, 2  # the point is shown by a packet socket, the hand-over, the arrival

POINT_DTYPE = np.dtype(
    [
        ("series", "<i8"),
        ("leg", "<i8"),
        ("netns", "<i8"),
        ("ifindex", "<i8"),
        ("met", "?"),  # the log shows that a device or the receiving stack had the skb there
        ("ip", "?"),  # the skb held an IP packet
        ("sends", "u1"),  # 1: the packet left by the device
        ("how", "u1"),
        ("ts", "<i8"),  # ns of the KBL's clock
        ("after", "<i8"),  # the stamp was made between `after` and `before`
        ("before", "<i8"),
    ]
)


SOCKET_DTYPE = np.dtype([*POINT_DTYPE.descr, ("record", "<i8")])


class Seen(NamedTuple):
    """Where a sniffer may have stamped packets: points (for the clock fit), and tap moments."""

    points: ColumnTable  # POINT_DTYPE
    moments: ColumnTable  # MOMENT_DTYPE
    unowned: Int64s  # records of packet sockets' calls whose lifetime is not known
    unowned_since: Int64s  # when the skbs of these calls may have arrived, ns
    perhaps_copies: Int64s  # series that may be copies for sniffers


def build(log: KernelLog, series: SeriesTable, legs: LegTable, losses: Table) -> Seen:
    """Return the points and the moments of all legs, both sorted by series.

    `losses` are the losses that the log declares.
    """
    entries, scratch = _Entries(log), scratch_of(log.records)
    foreign = np.zeros(0, np.int64)
    lossy = len(losses_inside(losses)) > 0 or bool(log.missed) or log.lost_records > 0
    if lossy:  # otherwise the log has all births and ends of skbs
        foreign = entries.remove(after_release(log.records, series, entries.all()))
    rows = legs.rows
    sent = entries.entries_of(TRANSMIT)
    sent = sent[legs.of[sent] >= 0]
    onwards = sent[rows["kind"][legs.of[sent]] == FORWARD]
    forward = onwards[np.unique(legs.of[onwards], return_index=True)[1]]
    is_unborn = unborn(log, series) if lossy else np.zeros(len(series.parent), np.bool_)
    without_birth = np.flatnonzero(is_unborn)
    arrival = _arrivals(log, series, legs, entries, losses)
    arrival = tap_moments.perhaps_of_originals(legs, is_unborn, arrival)
    calls = entries.entries_of(PACKET_SOCKET)
    if lossy:
        received = entries.entries_of(RECEIVED | STAMPS_RECEIVED)
        received = np.concatenate([received, entries.events(RECEIVE)])
        calls = of_known_skbs(log, series, calls, received, without_birth)
    sockets = _sockets(log, series, legs, calls)
    copies = perhaps_copies(series, without_birth, entries.all(), entries.calls_of_sockets)
    sockets_of, sockets = sockets["record"], _merged(sockets)
    others = np.unique(legs.of[foreign]).astype(np.int64)
    until = until_release(log.records, series, legs, others)
    each = _of_legs(legs, legs.of[sent]) | {"after": arrival.ns, "before": until}
    each["before"] = _until_sockets(each, sockets)
    onward = _of_records(log, series, legs, forward, until)
    onward["before"] = _until_sockets(onward, sockets)
    passes = _passes(series, legs, entries, sent)
    times = tap_moments.Window(arrival, until)
    taken = tap_moments.build(
        log.records, series, legs, sockets, passes, times, log.taps, others, scratch
    )
    arrived: Int64s = arrival.ns[sockets["leg"]]
    sockets["after"] = np.minimum(sockets["after"], arrived)
    parts: list[Rows] = [sockets]
    for how, column in ((WIRE, "wire_ns"), (EARLY, "early_ns")):
        parts.append(each | {"ts": rows[column], "how": np.full(len(rows), how, np.uint8)})
        again = onward.copy()
        again["how"] = how
        parts.append(again)
    scratch.forget()
    unowned = np.setdiff1d(entries.calls_of_sockets, sockets_of)
    since = _since(log, legs, unowned)
    return Seen(_by_series(parts, scratch), taken, unowned, since, copies)


def _since(log: KernelLog, legs: LegTable, calls: Int64s) -> Int64s:
    """Return for each packet socket's call the earliest time (ns) at which its skb arrived.

    A received skb may wait before the socket is called.  An skb arrived after the start of the leg
    that contains the call, or at a time for which the log lacks records.
    """
    ts, leg = np.asarray(part(log.records, "ts", calls), np.int64), legs.of[calls]
    waited = np.flatnonzero((leg >= 0) & (legs.rows["kind"][leg] != TX))
    begin = np.asarray(legs.rows["begin_ns"][leg[waited]], np.int64)
    since = ts.copy()
    since[waited] = np.clip(begin, ts[waited] - WAIT_NS, ts[waited])
    return since


def _passes(
    series: SeriesTable, legs: LegTable, entries: _Entries, sent: Int64s
) -> tap_moments.HandOver:
    """Return calls and events that hand an skb to a driver or to the receiving stack."""
    received = entries.entries_of(RECEIVED)
    received = received[legs.of[received] >= 0]
    leg, met = legs.of[received], series.met[received]
    received = received[(met == legs.rows["wire_ns"][leg]) & (legs.rows["kind"][leg] != TX)]
    stamped = entries.entries_of(STAMPS_SENT)
    parts = [sent, entries.events(START_XMIT), received, entries.events(RECEIVE)]
    record = np.concatenate(parts)
    sends = np.arange(len(record)) < len(parts[0]) + len(parts[1])
    order = np.argsort(record, kind="stable")
    record, sends = record[order], sends[order]
    own = legs.of[record] >= 0
    record, sends = record[own], sends[own]
    leg = legs.of[record].astype(np.int64)
    return tap_moments.HandOver(record, leg, sends, np.isin(record, stamped))


Rows = npt.NDArray[np.void] | dict[str, npt.NDArray[Any]]
_SMALL = ("series", "leg", "netns", "ifindex")  # stored in the narrowest type


def _by_series(parts: list[Rows], scratch: Scratch) -> ColumnTable:
    """Return all rows sorted by series; rows of one series keep the order of `parts`."""
    owner = narrow(np.concatenate([rows["series"] for rows in parts]))
    order = np.argsort(owner, kind="stable")  # runs in order
    columns = {"series": scratch.keep(owner[order])}
    del owner
    for name in (POINT_DTYPE.names or ())[1:]:
        column = np.concatenate([rows[name] for rows in parts])
        columns[name] = scratch.keep((narrow(column) if name in _SMALL else column)[order])
        scratch.forget()
    return ColumnTable(POINT_DTYPE, columns, scratch)


def _of_legs(legs: LegTable, sent: npt.NDArray[np.integer]) -> dict[str, npt.NDArray[Any]]:
    """Return columns, without times, of the points where legs reach their first device.

    `sent` are the legs of which a driver got the skb.
    """
    made = {name: legs.rows.stored(name) for name in ("series", "netns", "ifindex")}
    made["leg"] = np.arange(len(legs.rows), dtype=np.int32)
    made["sends"] = (legs.rows["kind"] == TX).astype(np.uint8)
    made["met"], made["ip"] = made["sends"] == 0, _of_ip(legs, slice(None))
    made["met"][sent] = True  # otherwise the log may begin to show the leg elsewhere
    return made


def _of_ip(legs: LegTable, rows: slice | Int64s) -> Bools:
    return is_among(legs.rows.part("ethertype", rows), IP)


def _arrivals(
    log: KernelLog, series: SeriesTable, legs: LegTable, entries: _Entries, losses: Table
) -> tap_moments.Arrival:
    """Return for each leg the earliest time at which a sniffer at its first point can stamp it.

    The earliest time is the entry of a function in which the kernel stamps packets.  If the log
    does not show this entry, the time is the start of the leg, or, for a leg that receives, the
    start of the whole lifetime.  If records were lost before this time, the entry may be among the
    lost records.  If the record of the entry may be lost, WAIT_NS is subtracted, but the result is
    never before a birth that the log shows.
    """
    rows = legs.rows
    new = np.r_[True, rows["series"][1:] != rows["series"][:-1]][: len(rows)]
    begin = rows["begin_ns"][np.flatnonzero(new)][np.cumsum(new) - 1]
    kind = np.asarray(rows["kind"])
    begin = np.where(kind == TX, rows["begin_ns"], begin)
    unsure = np.ones(len(rows), np.bool_)
    goes_on = np.zeros(len(rows), np.bool_)
    goes_on[1:] = ~new[1:] & (kind[1:] != TX) & (kind[:-1] == RX)
    for names, received in ((STAMPS_SENT, False), (STAMPS_RECEIVED, True)):
        index = entries.entries_of(names)
        leg = legs.of[index]
        index, leg = index[leg >= 0], leg[leg >= 0]
        sure = part(log.records, "ts", index) == rows["early_ns"][leg]
        sure &= (rows["kind"][leg] != TX) == received
        begin[leg[sure]] = rows["early_ns"][leg[sure]]
        goes_on[leg[sure]] = unsure[leg[sure]] = False
    begins = np.asarray(rows["begin_ns"], np.int64)
    stamping = entries.ids(STAMPS_SENT | STAMPS_RECEIVED)
    earlier = unsure & meets(_of_functions(losses, stamping), begins - WAIT_NS, begins)
    if earlier.any():
        born = births(log.records, series)[rows["series"]]
        begin = np.where(earlier, np.clip(born, begin - WAIT_NS, begin), begin)
    # The device of a receive handler has the stamp of the device below it.
    own = np.maximum.accumulate(np.where(goes_on, 0, np.arange(len(rows))))
    return tap_moments.Arrival(np.asarray(begin[own], np.int64), ~unsure[own])


def _of_functions(losses: Table, ids: list[int]) -> Table:
    """Return the losses with a known time that may concern calls of the functions `ids`."""
    dated = losses_inside(losses)
    return np.asarray(dated[(dated["reason"] != MISSED) | np.isin(dated["func"], [ANY, *ids])])


class _Entries:
    """The records at the entry of functions that are needed for points."""

    def __init__(self, log: KernelLog) -> None:
        self._probes = log.probes
        records = log.records
        ids = self.ids(TRANSMIT | STAMPS_SENT | STAMPS_RECEIVED | PACKET_SOCKET | RECEIVED)

        def enters(some: slice) -> Bools:
            func = is_among(part(records, "func", some), ids)
            kind = part(records, "kind", some)
            event = is_among(part(records, "event", some), (RECEIVE, START_XMIT))
            return np.asarray(func & ((kind == ENTRY) | (kind == SEEN)) | event & (kind == EVENT))

        self._index = rows_where(records, enters)
        self._func = part(records, "func", self._index)
        self._event = part(records, "event", self._index)
        self.calls_of_sockets = self.entries_of(PACKET_SOCKET)

    def all(self) -> Int64s:
        """Return the row numbers of all these records."""
        return self._index

    def remove(self, those: Bools) -> Int64s:
        """Remove and return the records that `those` marks, whose skb lifetime is unknown."""
        dropped = self._index[those]
        self._index, self._func = self._index[~those], self._func[~those]
        self._event = self._event[~those]
        return dropped

    def ids(self, names: frozenset[str]) -> list[int]:
        """Return the ids of the probes on the functions `names`."""
        return [p.id for p in self._probes.values() if p.name in names]

    def entries_of(self, names: frozenset[str]) -> Int64s:
        """Return the records that enter a function of `names`."""
        calls = self._event == 0
        return np.asarray(self._index[calls & is_among(self._func, self.ids(names))], np.int64)

    def events(self, number: int) -> Int64s:
        """Return the records that are events of the kind `number`."""
        return np.asarray(self._index[self._event == number], np.int64)


def _of_records(
    log: KernelLog, series: SeriesTable, legs: LegTable, index: Int64s, until: Int64s
) -> npt.NDArray[np.void]:
    """Return a point for each of the records `index`, all of them on legs that send.

    By leg: `until` is the time after which no sniffer stamps its skb.
    """
    made = np.zeros(len(index), POINT_DTYPE)
    made["leg"] = legs.of[index]
    made["series"] = legs.rows["series"][made["leg"]]
    made["ts"], made["ip"] = series.met[index], _of_ip(legs, made["leg"])
    made["sends"] = made["met"] = True
    made["after"], made["before"] = made["ts"], until[made["leg"]]
    for name in ("netns", "ifindex"):
        made[name] = part(log.records, name, index)
    return made


def _sockets(
    log: KernelLog, series: SeriesTable, legs: LegTable, index: Int64s
) -> npt.NDArray[np.void]:
    """Return a point for each leg of which packet sockets got the skb.

    A point lasts from the first entry to the last exit of a packet socket's function.  An skb that
    is sent is cloned for the sniffers, so the point belongs to the parent of the clone.
    """
    if not _shows_clones(log):
        index = index[:0]  # each may belong to a sniffer's own copy whose birth is not recorded
    owner = series.of[index]
    index, owner = index[owner >= 0], owner[owner >= 0]
    copy = series.tap[owner]
    owner = np.where(copy, series.parent[owner], owner)
    leg = _leg_at(legs, owner, series.met[index])
    # A clone reaches its socket at once: a later call is of another skb at the same address.
    mine = (leg >= 0) & (~copy | (series.met[index] <= legs.rows["end_ns"][leg]))
    index, copy, leg = index[mine], copy[mine], leg[mine]
    made = np.zeros(len(index), SOCKET_DTYPE)
    made["leg"], made["series"], made["record"] = leg, legs.rows["series"][leg], index
    made["met"], made["ip"] = True, _of_ip(legs, leg)
    made["sends"], made["how"], made["after"] = copy, SOCKET, series.met[index]
    made["before"] = np.maximum(part(log.records, "exit_ts", index), made["after"])
    for name in ("netns", "ifindex"):
        made[name] = part(log.records, name, index)
    return made


def _shows_clones(log: KernelLog) -> bool:
    """Return whether the log has a record of any clone's birth."""
    records = log.records

    def clones(some: slice) -> Bools:
        kind, event = part(records, "kind", some), part(records, "event", some)
        return np.asarray((kind == EVENT) & (event == CLONE))

    armed = any(p.event == CLONE and p.address and not p.error for p in log.probes.values())
    return armed or len(rows_where(records, clones)) > 0


def _leg_at(legs: LegTable, series: npt.NDArray[np.integer], ts: Int64s) -> Int64s:
    """Return the last leg of each series that has begun by `ts`; -1 if none has."""
    rows = legs.rows  # sorted by (series, begin_ns)
    if not len(series):
        return np.zeros(0, np.int64)
    both = np.concatenate([series, rows["series"]])
    when = np.concatenate([ts, rows["begin_ns"]])
    asked = np.arange(len(both)) < len(series)
    order = np.lexsort((asked, when, both))
    last = np.maximum.accumulate(np.where(asked[order], -1, np.arange(len(both))))
    found = np.full(len(series), -1, np.int64)
    mine = asked[order]
    leg = np.where(last >= 0, order[last] - len(series), -1)[mine]
    found[order[mine]] = leg
    same = (found >= 0) & (series >= 0)
    same[same] = rows["series"][found[same]] == series[same]
    return np.where(same, found, -1)


def _merged(points: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Return one point for all packet sockets at one device and in one direction of a leg."""
    if not len(points):
        return points
    names = ("after", "ifindex", "netns", "sends", "leg")
    points = points[np.lexsort([points[name] for name in names])]
    new = np.ones(len(points), np.bool_)
    new[1:] = np.any([points[n][1:] != points[n][:-1] for n in names[1:]], axis=0)
    # In a damaged log, a leg may contain several packets.
    new[1:] |= points["after"][1:] > points["before"][:-1] + ONE_NS
    until = np.maximum.reduceat(points["before"], np.flatnonzero(new))
    points = points[new]
    points["before"] = until
    points["ts"] = (points["after"] + until) // 2
    return points


def _until_sockets(points: Rows, sockets: npt.NDArray[np.void]) -> Int64s:
    """Return for each point a time after which no packet was stamped there.

    Each leg has at most one of these points.

    At the returned time, packet sockets at the device of the point got the skb in the direction of
    the point.  Sockets at a different device do not count: the skb of a macvlan passes the sockets
    of the lower device first.
    """
    before = np.array(points["before"], np.int64)
    point_of = np.full(1 + int(points["leg"].max(initial=-1)), -1, np.int64)
    point_of[points["leg"]] = np.arange(len(before))
    sockets = sockets[sockets["leg"] < len(point_of)]
    point = point_of[sockets["leg"]]
    same = [points[name][point] == sockets[name] for name in ("netns", "ifindex", "sends")]
    here = np.flatnonzero((point >= 0) & np.all(same, axis=0))
    point, first = np.unique(point[here], return_index=True)  # in the order of time
    before[point] = sockets["before"][here[first]]
    return np.asarray(np.maximum(before, points["after"]), np.int64)

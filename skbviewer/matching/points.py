# SPDX-License-Identifier: MIT
"""Where and when a sniffer could have seen each leg.

In: a KBL with its series and legs.  Out: POINT_DTYPE rows.  A sniffer in the same kernel stamps a
packet while a packet socket has it (net/packet/af_packet.c: between entry and exit of tpacket_rcv),
which the log may show; else where the driver or the stack gets it; or, as soon as any socket of the
machine wants timestamps, on arrival (net_timestamp_check() in net/core/dev.c).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records import KernelLog, RecordTable
from .kinds import ENTRY, Index
from .legs import FORWARD, TX, LegTable
from .phases import PACKET_SOCKET, STAMPS_RECEIVED, STAMPS_SENT, TRANSMIT
from .series import SeriesTable

SOCKET, WIRE, EARLY = 0, 1, 2  # by whom: a packet socket, the hand-over, the arrival

POINT_DTYPE = np.dtype(
    [
        ("series", "<i8"),
        ("leg", "<i8"),
        ("netns", "<i8"),
        ("ifindex", "<i8"),
        ("sends", "u1"),  # 1: on the way out of the device
        ("how", "u1"),
        ("ts", "<i8"),  # ns of the KBL's clock
        ("after", "<i8"),  # the stamp was made not before this, not after that
        ("before", "<i8"),
    ]
)


def build(log: KernelLog, series: SeriesTable, legs: LegTable) -> npt.NDArray[np.void]:
    """The points of all legs, sorted by series."""
    rows = legs.rows
    sent = _entries(log, TRANSMIT)
    sent = sent[legs.of[sent] >= 0]
    sent = sent[rows["kind"][legs.of[sent]] == FORWARD]
    first = np.unique(legs.of[sent], return_index=True)[1]
    forward = sent[first]
    arrival = _arrivals(log, legs)
    sockets = _sockets(log, series, legs)
    parts = [sockets]
    for how, column in ((WIRE, "wire_ns"), (EARLY, "early_ns")):
        made = np.zeros(len(rows), POINT_DTYPE)
        made["leg"], made["ts"] = np.arange(len(rows)), rows[column]
        made["sends"], made["how"] = rows["kind"] == TX, how
        for name in ("series", "netns", "ifindex"):
            made[name] = rows[name]
        made["after"], made["before"] = arrival, rows["end_ns"]
        parts += [made, _of_records(log, series, legs, forward, how)]
        parts[-2:] = [_until_socket(part, sockets) for part in parts[-2:]]
    sockets["after"] = np.minimum(sockets["after"], arrival[sockets["leg"]])
    points = np.concatenate(parts)
    return points[np.argsort(points["series"], kind="stable")]


def _arrivals(log: KernelLog, legs: LegTable) -> Index:
    """The moment in each leg before which no sniffer at its first point can stamp the packet.

    The entry of a function that does so inside; if the log lacks them the begin of the leg, and of
    a packet that is received the begin of all.
    """
    rows = legs.rows
    new = np.r_[True, rows["series"][1:] != rows["series"][:-1]][: len(rows)]
    begin = rows["begin_ns"][np.flatnonzero(new)][np.cumsum(new) - 1]
    begin = np.where(rows["kind"] == TX, rows["begin_ns"], begin)
    for names, received in ((STAMPS_SENT, False), (STAMPS_RECEIVED, True)):
        index = _entries(log, names)
        leg = legs.of[index]
        index, leg = index[leg >= 0], leg[leg >= 0]
        sure = log.records["ts"][index] == rows["early_ns"][leg]
        sure &= (rows["kind"][leg] != TX) == received
        begin[leg[sure]] = rows["early_ns"][leg[sure]]
    return np.asarray(begin, np.int64)


def _column(log: KernelLog, name: str, index: Index) -> Index:
    records = log.records
    if isinstance(records, RecordTable):
        return np.asarray(records.part(name, index), np.int64)
    return np.asarray(records[name][index], np.int64)


def _entries(log: KernelLog, names: frozenset[str]) -> Index:
    """Records that enter a function of `names`."""
    ids = [p.id for p in log.probes.values() if p.name in names]
    wanted = np.zeros(max(log.probes, default=0) + 2, np.bool_)  # the last for no function at all
    wanted[ids] = True
    func = np.clip(log.records["func"], -1, len(wanted) - 2)
    return np.flatnonzero(wanted[func] & (log.records["kind"] == ENTRY))


def _of_records(
    log: KernelLog, series: SeriesTable, legs: LegTable, index: Index, how: int
) -> npt.NDArray[np.void]:
    """A point for each of these records, which have a leg and send."""
    made = np.zeros(len(index), POINT_DTYPE)
    made["leg"] = legs.of[index]
    made["series"] = legs.rows["series"][made["leg"]]
    made["ts"] = series.met[index]
    made["sends"], made["how"] = True, how
    made["after"], made["before"] = made["ts"], legs.rows["end_ns"][made["leg"]]
    for name in ("netns", "ifindex"):
        made[name] = _column(log, name, index)
    return made


def _sockets(log: KernelLog, series: SeriesTable, legs: LegTable) -> npt.NDArray[np.void]:
    """From the first entry of a packet socket's function to its last exit, per leg.

    On its way out a packet is cloned for the sniffers: the clone's parent is meant.
    """
    index = _entries(log, PACKET_SOCKET)
    owner = series.of[index]
    index, owner = index[owner >= 0], owner[owner >= 0]
    copy = series.tap[owner]
    owner = np.where(copy, series.parent[owner], owner)
    leg = _leg_at(legs, owner, series.met[index])
    index, copy, leg = index[leg >= 0], copy[leg >= 0], leg[leg >= 0]
    made = np.zeros(len(index), POINT_DTYPE)
    made["leg"], made["series"] = leg, legs.rows["series"][leg]
    made["sends"], made["how"], made["after"] = copy, SOCKET, series.met[index]
    made["before"] = np.maximum(_column(log, "exit_ts", index), made["after"])
    for name in ("netns", "ifindex"):
        made[name] = _column(log, name, index)
    return _merged(made)


def _leg_at(legs: LegTable, series: npt.NDArray[np.integer], ts: Index) -> Index:
    """The last leg of each series that has begun by then, -1 if none has."""
    rows = legs.rows  # sorted by (series, begin_ns)
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
    """One point for all sockets at one place of a leg."""
    if not len(points):
        return points
    names = ("after", "ifindex", "netns", "sends", "leg")
    points = points[np.lexsort([points[name] for name in names])]
    new = np.ones(len(points), np.bool_)
    new[1:] = np.any([points[n][1:] != points[n][:-1] for n in names[1:]], axis=0)
    until = np.maximum.reduceat(points["before"], np.flatnonzero(new))
    points = points[new]
    points["before"] = until
    points["ts"] = (points["after"] + until) // 2
    return points


def _until_socket(
    points: npt.NDArray[np.void], sockets: npt.NDArray[np.void]
) -> npt.NDArray[np.void]:
    """The points, each at most one a leg and way, ended by the exit of a packet socket."""
    asked, known = (rows["leg"] * 2 + rows["sends"] for rows in (points, sockets))
    order = np.argsort(known, kind="stable")
    at = np.minimum(np.searchsorted(known[order], asked), len(known) - 1)
    if len(known):
        found = known[order][at] == asked
        points["before"] = np.where(found, sockets["before"][order][at], points["before"])
    points["before"] = np.maximum(points["before"], points["after"])
    return points

# SPDX-License-Identifier: MIT
"""Cut each series into legs: one pass through one stack.

In: a KBL and its series.  Out: LEG_DTYPE rows and the leg of each record.  A leg begins where a
packet that has been handed to a driver is received again (veth, loopback: the same skb goes on), or
where its network namespace changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..records import KernelLog
from .lives import Flags
from .pairing import ENTRY, EXIT, Index, named
from .phases import READER, RECEIVE_START, RECEIVE_TAP, TRANSMIT
from .series import SeriesTable

TX, RX, FORWARD = 0, 1, 2

# When a packet tap has seen a packet: when it was handed over, or, as soon as any socket of the
# machine wants timestamps, on arrival (net_timestamp_check() in net/core/dev.c).
TAPS = ("wire_ns", "early_ns")

LEG_DTYPE = np.dtype(
    [
        ("series", "<i8"),
        ("kind", "u1"),
        ("begin_ns", "<i8"),
        ("end_ns", "<i8"),  # TX, forward: driver's xmit exit; RX: before the reader, or free
        ("wire_ns", "<i8"),  # where a tap would see it: xmit entry, netif_receive_skb entry
        ("early_ns", "<i8"),  # the same, if packets get their time when they arrive (see TAPS)
        ("netns", "<i8"),
        ("ifindex", "<i8"),  # at wire_ns
        ("functions", "<i4"),
        ("ethertype", "<i4"),
        ("reader_ns", "<i8"),  # the process began to read it, -1 = never
    ]
)


@dataclass(frozen=True)
class LegTable:
    """`rows` has LEG_DTYPE, sorted by (series, begin_ns); `of` is the leg of each record or -1."""

    rows: npt.NDArray[np.void]
    of: Index


def build(log: KernelLog, series: SeriesTable) -> LegTable:
    """The legs of all series of `log`."""
    records = log.records
    exits = (records["kind"] == EXIT) & (series.partner >= 0)
    item = np.flatnonzero((series.of >= 0) & ~exits)
    item = item[np.lexsort((item, series.met[item], series.of[item]))]
    of = np.full(len(records), -1, np.int64)
    if not len(item):
        return LegTable(np.zeros(0, LEG_DTYPE), of)
    start = _boundaries(log, series.of[item], item)
    leg = np.cumsum(start) - 1
    of[item] = leg
    of[exits] = of[series.partner[exits]]
    return LegTable(_rows(log, series, item, leg, start), of)


def _boundaries(log: KernelLog, series: Index, item: Index) -> Flags:
    new = np.r_[True, series[1:] != series[:-1]]
    sent = np.cumsum(named(log, item, TRANSMIT))
    at_begin: Index = (sent - named(log, item, TRANSMIT))[new][np.cumsum(new) - 1]
    start = new.copy()
    receive = np.flatnonzero(named(log, item, RECEIVE_START))
    previous = np.r_[-1, sent[receive[:-1]]] if len(receive) else sent[:0]
    previous = np.maximum(previous, at_begin[receive])
    start[receive] |= sent[receive] > previous
    netns = log.records["netns"][item]
    known = np.flatnonzero(netns > 0)
    changes = (netns[known[1:]] != netns[known[:-1]]) & (series[known[1:]] == series[known[:-1]])
    start[known[1:][changes]] = True
    return np.asarray(start, np.bool_)


def _rows(
    log: KernelLog, series: SeriesTable, item: Index, leg: Index, start: Flags
) -> npt.NDArray[np.void]:
    records = log.records
    count = int(leg[-1]) + 1
    rows = np.zeros(count, LEG_DTYPE)
    first = item[start]
    rows["series"], rows["begin_ns"] = series.of[first], series.met[first]
    entry = records["kind"][item] == ENTRY
    rows["functions"] = np.bincount(leg[entry], minlength=count)
    transmit, receive = named(log, item, TRANSMIT), named(log, item, RECEIVE_START)
    _place(log, series.met[item], rows, item, leg, transmit, receive)
    rows["reader_ns"] = _first(series.met[item], leg, named(log, item, READER), count)
    rows["end_ns"] = _ends(log, series, rows, item, leg, transmit)
    rows["ethertype"] = _last_known(records["ethertype"][item], leg, count)
    return rows


def _place(
    log: KernelLog,
    ts: Index,
    rows: npt.NDArray[np.void],
    item: Index,
    leg: Index,
    transmit: Flags,
    receive: Flags,
) -> None:
    """Set kind, wire_ns, early_ns, netns and ifindex."""
    count = len(rows)
    xmit_ns, rx_ns = _first(ts, leg, transmit, count), _first(ts, leg, receive, count)
    received = (rx_ns >= 0) & ((xmit_ns < 0) | (rx_ns <= xmit_ns))
    rows["kind"] = np.where(received, np.where(xmit_ns >= 0, FORWARD, RX), TX)
    tap_ns = np.full(count, -1, np.int64)
    for name in RECEIVE_TAP:
        tap_ns = np.where(tap_ns < 0, _first(ts, leg, named(log, item, (name,)), count), tap_ns)
    wire = np.where(received, np.where(tap_ns >= 0, tap_ns, rx_ns), xmit_ns)
    rows["wire_ns"] = np.where(wire >= 0, wire, rows["begin_ns"])
    rows["early_ns"] = np.where(received & (rx_ns >= 0), rx_ns, rows["wire_ns"])
    near = ts <= rows["wire_ns"][leg]
    for column in ("netns", "ifindex"):
        values = np.where(near | received[leg], log.records[column][item], 0)
        rows[column] = _last_known(values, leg, count)


def _ends(
    log: KernelLog,
    series: SeriesTable,
    rows: npt.NDArray[np.void],
    item: Index,
    leg: Index,
    transmit: Flags,
) -> Index:
    """End of each leg in the stack; what the reading process does later is not counted."""
    records = log.records
    partner = series.partner[item]
    leave = np.where(partner >= 0, records["ts"][partner], records["ts"][item])
    sends = rows["kind"][leg] != RX
    has_xmit = np.bincount(leg[transmit], minlength=len(rows)) > 0
    reader = rows["reader_ns"][leg]
    counts = np.where(sends & has_xmit[leg], transmit, (reader < 0) | (series.met[item] < reader))
    ends = rows["begin_ns"].copy()
    np.maximum.at(ends, leg[counts], leave[counts])
    return np.asarray(ends, np.int64)


def _first(ts: Index, leg: Index, chosen: Flags, count: int) -> Index:
    """Earliest time per leg among the chosen items, -1 where there is none."""
    found = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(found, leg[chosen], ts[chosen])
    return np.where(found == np.iinfo(np.int64).max, -1, found)


def _last_known(values: Index, leg: Index, count: int) -> Index:
    """The latest positive value per leg, 0 where there is none (items are in time order)."""
    found = np.zeros(count, np.int64)
    known = values > 0
    found[leg[known]] = values[known]
    return found

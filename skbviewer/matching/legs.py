# SPDX-License-Identifier: MIT
"""Cut each series into legs: one pass through one stack.

In: a KBL and its series.  Out: LEG_DTYPE rows and the leg of each record.  A leg begins where a
packet that has been handed to a driver is received again (veth, loopback: the same skb goes on), or
where its network namespace changes.  What is asked of a series needs no other: they are cut some
at a time, so that what is made on the way stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..records import ColumnTable, KernelLog, narrow, part
from .kinds import ENTRY, Index, chosen
from .lives import Flags
from .ordering import BLOCK, Small
from .phases import READER, RECEIVE_START, RECEIVE_TAP, TRANSMIT
from .series import SeriesTable

TX, RX, FORWARD = 0, 1, 2
_MATTER = TRANSMIT | RECEIVE_START | READER | frozenset(RECEIVE_TAP)

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


_SMALL = ("series", "netns", "ifindex", "ethertype")  # stored as narrow as they are


@dataclass(frozen=True)
class LegTable:
    """`rows` has LEG_DTYPE, sorted by (series, begin_ns); `of` is the leg of each record or -1."""

    rows: ColumnTable
    of: Small


def build(log: KernelLog, series: SeriesTable) -> LegTable:
    """The legs of all series of `log`."""
    of = np.full(len(log.records), -1, np.int32)
    rows, count = [np.zeros(0, LEG_DTYPE)], 0
    for item in _some_series(series):
        entered = _Entered(log, item)
        start = _boundaries(log, series.of[item], item, entered)
        leg = np.cumsum(start) - 1
        rows.append(_rows(log, series, item, leg, start, entered))
        leg += count
        of[item] = leg
        count += len(rows[-1])
    return LegTable(_joined(rows), of)


def _some_series(series: SeriesTable) -> Iterator[Small]:
    """The records of some series after others, sorted by (series, met), whole series each time."""
    item = np.flatnonzero(series.of >= 0)
    met = series.met[item]
    if (met[1:] < met[:-1]).any():
        item = item[np.argsort(met, kind="stable")]  # nearly in order already
    del met
    owner = series.of[item]
    order = np.argsort(owner, kind="stable")  # nearly in order too, they are numbered by time
    item = item[order]
    owner = owner[order]
    del order
    begin = 0
    while begin < len(item):
        end = begin + BLOCK
        if end < len(item):
            end = int(np.searchsorted(owner, owner[end]))
            end = end if end > begin else int(np.searchsorted(owner, owner[begin], "right"))
        yield item[begin:end].astype(np.int32)
        begin = end


def _joined(parts: list[npt.NDArray[np.void]]) -> ColumnTable:
    """The rows one behind the other."""
    names = LEG_DTYPE.names or ()
    columns = {name: np.concatenate([rows[name] for rows in parts]) for name in names}
    return ColumnTable(LEG_DTYPE, columns | {name: narrow(columns[name]) for name in _SMALL})


class _Entered:
    """Which of the functions that matter here each of some records enters."""

    def __init__(self, log: KernelLog, item: Small) -> None:
        self._probes = log.probes
        self.entry = part(log.records, "kind", item) == ENTRY
        func = part(log.records, "func", item)
        self._at = np.flatnonzero(self.entry & chosen(func, self._ids(_MATTER)))
        self._func = func[self._at]

    def _ids(self, names: frozenset[str]) -> list[int]:
        return [p.id for p in self._probes.values() if p.name in names]

    def at(self, names: frozenset[str]) -> Index:
        """Positions of the records that enter a function of `names`."""
        return self._at[chosen(self._func, self._ids(names))]

    def are(self, names: frozenset[str]) -> Flags:
        """Which of the records enter a function of `names`."""
        flags = np.zeros(len(self.entry), np.bool_)
        flags[self.at(names)] = True
        return flags


def _boundaries(log: KernelLog, series: Small, item: Small, entered: _Entered) -> Flags:
    new = np.r_[True, series[1:] != series[:-1]]
    transmit = entered.are(TRANSMIT)
    sent = np.cumsum(transmit)
    first = np.flatnonzero(new)
    receive = entered.at(RECEIVE_START)
    previous = np.r_[-1, sent[receive[:-1]]] if len(receive) else sent[:0]
    at_begin: Index = (sent[first] - transmit[first])[np.searchsorted(first, receive, "right") - 1]
    previous = np.maximum(previous, at_begin)
    start = new.copy()
    start[receive] |= sent[receive] > previous
    netns = part(log.records, "netns", item)
    known = np.flatnonzero(netns > 0)
    changes = (netns[known[1:]] != netns[known[:-1]]) & (series[known[1:]] == series[known[:-1]])
    start[known[1:][changes]] = True
    return np.asarray(start, np.bool_)


def _rows(
    log: KernelLog,
    series: SeriesTable,
    item: Small,
    leg: Index,
    start: Flags,
    entered: _Entered,
) -> npt.NDArray[np.void]:
    records = log.records
    count = int(leg[-1]) + 1
    rows = np.zeros(count, LEG_DTYPE)
    first = item[start]
    rows["series"], rows["begin_ns"] = series.of[first], series.met[first]
    rows["functions"] = np.bincount(leg[entered.entry], minlength=count)
    transmit = entered.are(TRANSMIT)
    _place(log, series.met[item], rows, item, leg, entered)
    rows["reader_ns"] = _first(series.met[item], leg, entered.at(READER), count)
    rows["end_ns"] = _ends(log, series, rows, item, leg, transmit)
    rows["ethertype"] = _last_known(part(records, "ethertype", item), leg, count)
    return rows


def _place(
    log: KernelLog,
    ts: Index,
    rows: npt.NDArray[np.void],
    item: Small,
    leg: Index,
    entered: _Entered,
) -> None:
    """Set kind, wire_ns, early_ns, netns and ifindex."""
    count = len(rows)
    xmit_ns = _first(ts, leg, entered.at(TRANSMIT), count)
    rx_ns = _first(ts, leg, entered.at(RECEIVE_START), count)
    received = (rx_ns >= 0) & ((xmit_ns < 0) | (rx_ns <= xmit_ns))
    rows["kind"] = np.where(received, np.where(xmit_ns >= 0, FORWARD, RX), TX)
    tap_ns = np.full(count, -1, np.int64)
    for name in RECEIVE_TAP:
        taps = _first(ts, leg, entered.at(frozenset({name})), count)
        tap_ns = np.where(tap_ns < 0, taps, tap_ns)
    wire = np.where(received, np.where(tap_ns >= 0, tap_ns, rx_ns), xmit_ns)
    rows["wire_ns"] = np.where(wire >= 0, wire, rows["begin_ns"])
    rows["early_ns"] = np.where(received & (rx_ns >= 0), rx_ns, rows["wire_ns"])
    limit = np.where(received, np.iinfo(np.int64).max, rows["wire_ns"])
    near = np.flatnonzero(ts <= limit[leg])
    for column in ("netns", "ifindex"):
        rows[column] = _last_known(part(log.records, column, item[near]), leg[near], count)


def _ends(
    log: KernelLog,
    series: SeriesTable,
    rows: npt.NDArray[np.void],
    item: Small,
    leg: Index,
    transmit: Flags,
) -> Index:
    """End of each leg in the stack; what the reading process does later is not counted."""
    records = log.records
    leave = np.maximum(part(records, "exit_ts", item), part(records, "ts", item))
    sends = rows["kind"] != RX
    sends &= np.bincount(leg[transmit], minlength=len(rows)) > 0
    reader = np.where(rows["reader_ns"] < 0, np.iinfo(np.int64).max, rows["reader_ns"])[leg]
    counts = np.flatnonzero(np.where(sends[leg], transmit, series.met[item] < reader))
    ends = rows["begin_ns"].copy()
    np.maximum.at(ends, leg[counts], leave[counts])
    return np.asarray(ends, np.int64)


def _first(ts: Index, leg: Index, items: Index, count: int) -> Index:
    """Earliest time per leg among some items, -1 where there is none; a leg's are in time order."""
    found = np.full(count, -1, np.int64)
    backwards = items[::-1]
    found[leg[backwards]] = ts[backwards]  # the earliest is written last
    return found


def _last_known(values: Index, leg: Index, count: int) -> Index:
    """The latest positive value per leg, 0 where there is none (items are in time order)."""
    found = np.zeros(count, np.int64)
    known = values > 0
    found[leg[known]] = values[known]
    return found

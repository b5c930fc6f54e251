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

from ..records import ColumnTable, KernelLog, Records, RecordTable, narrow, part
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
_ROW_DTYPE = np.dtype([*LEG_DTYPE.descr, ("last_ns", "<i8")])


_SMALL = ("series", "netns", "ifindex", "ethertype")  # stored as narrow as they are


@dataclass(frozen=True)
class LegTable:
    """`rows` has LEG_DTYPE, sorted by (series, begin_ns); `of` is the leg of each record or -1.

    `last_ns` is when the last record of each leg ended, wherever it was.
    """

    rows: ColumnTable
    of: Small
    last_ns: Index


def build(log: KernelLog, series: SeriesTable) -> LegTable:
    """The legs of all series of `log`."""
    of = np.full(len(log.records), -1, np.int32)
    rows, count = [np.zeros(0, _ROW_DTYPE)], 0
    for item in _some_series(series):
        entered = _Entered(log, item)
        start = _boundaries(series.of[item], entered)
        leg = np.cumsum(start) - 1
        rows.append(_rows(log, series, item, leg, start, entered))
        leg += count
        of[item] = leg
        count += len(rows[-1])
    return LegTable(_joined(rows), of, np.concatenate([part["last_ns"] for part in rows]))


def _some_series(series: SeriesTable) -> Iterator[Index]:
    """The records of some series after others, sorted by (series, met), whole series each time."""
    item = np.flatnonzero(series.of >= 0)
    met = series.met[item]
    if (met[1:] < met[:-1]).any():
        item = item[np.argsort(met, kind="stable")]  # nearly in order already
    del met
    owner = series.of[item]
    order = np.argsort(owner, kind="stable")  # nearly in order too, they are numbered by time
    item = item[order].astype(np.int32)
    owner = owner[order]
    del order
    begin = 0
    while begin < len(item):
        end = begin + BLOCK
        if end < len(item):
            end = int(np.searchsorted(owner, owner[end]))
            end = end if end > begin else int(np.searchsorted(owner, owner[begin], "right"))
        yield item[begin:end].astype(np.int64)
        begin = end


def _joined(parts: list[npt.NDArray[np.void]]) -> ColumnTable:
    """The rows one behind the other."""
    names = LEG_DTYPE.names or ()
    columns = {name: np.concatenate([rows[name] for rows in parts]) for name in names}
    return ColumnTable(LEG_DTYPE, columns | {name: narrow(columns[name]) for name in _SMALL})


class _Entered:
    """Which of the functions that matter here each of some records enters, and its footprint."""

    def __init__(self, log: KernelLog, item: Index) -> None:
        self._probes = log.probes
        self.entry = part(log.records, "kind", item) == ENTRY
        func = part(log.records, "func", item)
        self._at = np.flatnonzero(self.entry & chosen(func, self._ids(_MATTER)))
        self._func = func[self._at]
        records = log.records
        self._shown: Records | ColumnTable = records
        self._number: npt.NDArray[np.integer] = item
        if isinstance(records, RecordTable):
            self._shown, self._number = records.footprints, records.footprint[item]

    def column(self, name: str) -> Index:
        """A column of the footprints of the records."""
        return np.asarray(part(self._shown, name, self._number), np.int64)

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


def _boundaries(series: Small, entered: _Entered) -> Flags:
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
    netns = entered.column("netns")
    known = np.flatnonzero(netns > 0)
    changes = (netns[known[1:]] != netns[known[:-1]]) & (series[known[1:]] == series[known[:-1]])
    start[known[1:][changes]] = True
    return np.asarray(start, np.bool_)


def _rows(
    log: KernelLog,
    series: SeriesTable,
    item: Index,
    leg: Index,
    start: Flags,
    entered: _Entered,
) -> npt.NDArray[np.void]:
    count, met = int(leg[-1]) + 1, series.met[item]
    rows = np.zeros(count, _ROW_DTYPE)
    first = item[start]
    rows["series"], rows["begin_ns"] = series.of[first], series.met[first]
    rows["functions"] = np.bincount(leg[entered.entry], minlength=count)
    transmit = entered.are(TRANSMIT)
    _place(met, rows, leg, entered)
    rows["reader_ns"] = _first(met, leg, entered.at(READER), count)
    leave = np.maximum(part(log.records, "exit_ts", item), part(log.records, "ts", item))
    rows["end_ns"] = _ends(met, leave, rows, leg, transmit)
    rows["last_ns"] = np.maximum.reduceat(leave, np.flatnonzero(start))
    rows["ethertype"] = _last_known(entered.column("ethertype"), leg, count)
    return rows


def _place(ts: Index, rows: npt.NDArray[np.void], leg: Index, entered: _Entered) -> None:
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
    near = ts <= limit[leg]
    for column in ("netns", "ifindex"):
        rows[column] = _last_known(np.where(near, entered.column(column), 0), leg, count)


def _ends(
    met: Index, leave: Index, rows: npt.NDArray[np.void], leg: Index, transmit: Flags
) -> Index:
    """End of each leg in the stack; what the reading process does later is not counted."""
    sends = rows["kind"] != RX
    sends &= np.bincount(leg[transmit], minlength=len(rows)) > 0
    reader = np.where(rows["reader_ns"] < 0, np.iinfo(np.int64).max, rows["reader_ns"])[leg]
    counts = np.where(sends[leg], transmit, met < reader)
    first = np.flatnonzero(np.r_[True, leg[1:] != leg[:-1]])
    last = np.maximum.reduceat(np.where(counts, leave, np.iinfo(np.int64).min), first)
    return np.asarray(np.maximum(rows["begin_ns"], last), np.int64)


def _first(ts: Index, leg: Index, items: Index, count: int) -> Index:
    """Earliest time per leg among some items, -1 where there is none; a leg's are in time order."""
    found = np.full(count, -1, np.int64)
    backwards = items[::-1]
    found[leg[backwards]] = ts[backwards]  # the earliest is written last
    return found


def _last_known(values: Index, leg: Index, count: int) -> Index:
    """The latest positive value per leg, 0 where there is none (items are in time order)."""
    found = np.zeros(count, np.int64)
    known = np.flatnonzero(values > 0)
    if len(known):
        owner = leg[known]
        last = np.flatnonzero(np.r_[owner[1:] != owner[:-1], True])
        found[owner[last]] = values[known[last]]
    return found

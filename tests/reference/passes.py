# SPDX-License-Identifier: MIT
"""Each packet's passes through a stack: its legs, and which calls and events are whose.

Input: the packets of a log.  Output: legs in the order of packets and time, with the rows of tables
leg, call and event that they make.  A pass begins where a packet that was handed to a driver is
received again, or where its network namespace is another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .calls import Calls
from .layout import EVENT, RETURNS_SKB, SOCK
from .lifetimes import RECEIVES, SENDS, Lifetimes, Record, Series
from .slots import Call, Event

TX, RX, FORWARD = 0, 1, 2
TAPS = (
    "__netif_receive_skb_core.constprop.0", "__netif_receive_skb_one_core", "__netif_receive_skb",
    "netif_receive_skb", "netif_rx_internal", "__netif_rx",
)  # fmt: skip
CHANGES = (EVENT.NEIGH, EVENT.ADDR, EVENT.ROUTE, EVENT.LINK)
SIGN = 1 << 63


@dataclass(eq=False)
class Row:
    """A call in a leg: `further` for the n-th further packet of a list."""

    number: int
    leg: Pass
    record: Record
    parent: Row | None = None
    drop_reason: int = -1

    @property
    def call(self) -> Call:
        assert self.record.call is not None
        return self.record.call

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1

    @property
    def skb(self) -> int:
        """Return what it was given, else what it returned."""
        record = self.record
        if record.skb == 0 and record.series and record.flags & RETURNS_SKB:
            return self.call.returned
        return record.skb


@dataclass(eq=False)
class Pass:
    """One leg; numbered from 1 on."""

    series: Series
    goes_on: bool  # received by another namespace's device
    records: list[Record] = field(default_factory=list)
    number: int = 0
    joined: list[Record] = field(default_factory=list)  # calls of its socket
    rows: list[Row] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    readers: frozenset[str] = frozenset()

    def _met(self, names: set[str] | frozenset[str]) -> list[Record]:
        return [one for one in self.records if self.names.get(one.number) in names]

    @property
    def begin(self) -> int:
        return self.records[0].met

    @property
    def sent(self) -> int | None:
        """Return when a driver got it."""
        return next((one.met for one in self._met(SENDS)), None)

    @property
    def received(self) -> int | None:
        return next((one.met for one in self._met(RECEIVES)), None)

    @property
    def is_received(self) -> bool:
        if self.goes_on:
            return True
        return self.received is not None and (self.sent is None or self.received <= self.sent)

    @property
    def kind(self) -> int:
        if not self.is_received:
            return TX
        return RX if self.sent is None else FORWARD

    @property
    def reader_ns(self) -> int:
        return next((one.met for one in self._met(self.readers)), -1)

    @property
    def end(self) -> int:
        """A driver has it, or a socket's queue has, or a process begins to read it."""
        if self.kind != RX and self.sent is not None:
            return max(self.begin, *(one.leaves for one in self._met(SENDS)))
        end, queued = -1, False
        reads = self.reader_ns
        for one in self.records:
            if reads >= 0 and one.met >= reads:
                break
            if not queued or one.met <= end:
                end = max(end, one.leaves)
            queued = queued or one.event == EVENT.SOCK_ENQUEUE
        return max(end, self.begin)

    @property
    def wire_ns(self) -> int:
        if not self.is_received:
            return self.begin if self.sent is None else self.sent
        for name in TAPS:
            found = self._met({name})
            if found:
                return found[0].met
        return self.begin if self.received is None else self.received

    def place(self, name: str) -> int:
        """Return the namespace or the device of its records: the last one that counts."""
        known = [(one.met, getattr(one.footprint, name)) for one in self.records]
        if not self.is_received:
            until = self.begin if self.sent is None else self.sent
            known = [one for one in known if one[0] <= until]
        return next((value for _, value in reversed(known) if value > 0), 0)

    @property
    def ethertype(self) -> int:
        known = (one.footprint.ethertype for one in reversed(self.records))
        return next((value for value in known if value > 0), 0)

    @property
    def drop_reason(self) -> int:
        """Return why it was dropped first."""
        drops = (one for one in self.records if one.event == EVENT.DROP)
        return next((one.data & 0xFFFFFFFF for one in drops), -1)

    @property
    def pid(self) -> int:
        """Return the thread of its first call that no interrupt made."""
        threads = (row.call.pid for row in self.rows if row.call.context == 0 and row.call.pid > 0)
        return next(threads, -1)


class Passes:
    """All legs of a log."""

    def __init__(self, calls: Calls, lives: Lifetimes, readers: frozenset[str]) -> None:
        self._calls, self._lives = calls, lives
        self.records = lives.records
        names = {one.number: lives.name(one) for one in lives.records if one.call}
        self.legs: list[Pass] = []
        for series in lives.series:
            self._split(series, names, readers)
        self._own = {id(one.of): one for one in lives.records if one.call and one.carried < 0}
        for number, leg in enumerate(self.legs, start=1):
            leg.number = number
            for record in leg.records:
                record.leg = number
        self._join_sockets()
        self.rows: list[Row] = []
        self._of_record: dict[tuple[int, int], Row] = {}  # (leg, number of a record)
        for leg in self.legs:
            own = [record for record in leg.records if record.call]
            for record in sorted([*own, *leg.joined], key=lambda one: one.number):
                row = Row(len(self.rows) + 1, leg, record)
                leg.rows.append(row)
                self.rows.append(row)
        self._by_call: dict[tuple[int, int], list[Row]] = {}  # (leg, call): its rows
        for row in self.rows:
            self._by_call.setdefault((row.leg.number, id(row.record.of)), []).append(row)
        for row in self.rows:
            row.parent = self._row_around(row.leg.number, row.record, row)
        self.events = self._place_events()
        self._note_drops()

    def _split(self, series: Series, names: dict[int, str], readers: frozenset[str]) -> None:
        sent, netns = False, 0
        leg: Pass | None = None
        for record in sorted(series.records, key=lambda one: (one.met, one.number)):
            name = names.get(record.number, "")
            begins = leg is None or (sent and name in RECEIVES)
            again = name in RECEIVES
            sent = (sent and not again) or name in SENDS
            here = record.footprint.netns
            begins = begins or (here > 0 and netns > 0 and here != netns)
            netns = here if here > 0 else netns
            if begins:
                goes_on = leg is not None and not again and leg.is_received and leg.sent is None
                leg = Pass(series, goes_on, names=names, readers=readers)
                self.legs.append(leg)
            assert leg is not None
            leg.records.append(record)

    def _join_sockets(self) -> None:
        """Calls of a socket, without a packet: one of a packet that had it is inside or around."""
        owned: dict[int, set[int]] = {}  # sockets by series
        for record in self._lives.records:
            if record.series and record.skb and record.footprint.sk != -1:
                owned.setdefault(record.series.number, set()).add(record.footprint.sk)
        first: dict[tuple[int, int], tuple[int, Record]] = {}
        found: set[tuple[int, int]] = set()
        calls = {one.number: one for one in self._lives.records}
        for record in self._lives.records:
            if record.call is None:
                continue
            if record.leg and record.series:
                for above in self._around(record):
                    sock = above.call.sock if above.call else 0
                    if self._is_socket(above) and sock in owned.get(record.series.number, ()):
                        key = above.number, record.series.number
                        leg = min(record.leg, first.get(key, (record.leg, above))[0])
                        first[key] = leg, above
            elif self._is_socket(record):
                for above in self._around(record):
                    mine = owned.get(above.series.number, set()) if above.series else set()
                    if above.leg and record.call.sock in mine:
                        found.add((record.number, above.leg))
        found |= {(above.number, leg) for leg, above in first.values()}
        for number, leg in sorted(found):
            self.legs[leg - 1].joined.append(calls[number])

    @staticmethod
    def _is_socket(record: Record) -> bool:
        return bool(record.flags & SOCK) and not record.leg

    def _around(self, record: Record) -> list[Record]:
        """Return the calls around it, the innermost one first."""
        made = []
        if isinstance(record.of, Event):
            above = self._calls.open_at(record.of)
        elif record.carried >= 0:
            above = record.of if record.of.call.end is not None else record.of.parent
        else:
            above = record.of.parent
        while above is not None:
            if above.call.end is not None and above.call.end > record.ts:
                made.append(self._own[id(above)])
            above = above.parent
        return made

    def _row_around(self, leg: int, record: Record, row: Row | None = None) -> Row | None:
        """Return the row of a leg whose call is innermost around a record."""
        if record.owner_call is not None:
            known = self._by_call.get((leg, id(record.owner_call.of)), [])
            own = [one for one in known if one.record is record.owner_call]
            if known:
                return own[0] if own else known[-1]
        for above in self._around(record):
            mine = self._by_call.get((leg, id(above.of)), [])
            mine = [one for one in mine if row is None or one.number < row.number]
            if mine:
                return mine[-1]
        return None

    def _place_events(self) -> list[tuple[Record, int, Row | None]]:
        """Return for each event its leg (-1: of no packet) and the call in which it happened."""
        made = []
        started: dict[tuple[int, int], int] = {}
        for record in self._lives.records:
            if not isinstance(record.of, Event):
                continue
            leg, place = record.leg or -1, (record.skb, record.of.cpu)
            if record.event == EVENT.START_XMIT:
                started[place] = leg
            elif record.event == EVENT.XMIT:
                leg = started.get(place, -1)
            elif record.event in CHANGES and leg < 0:
                leg = next((one.leg for one in self._around(record) if one.leg), -1)
            made.append((record, leg, self._row_around(leg, record) if leg > 0 else None))
        return made

    def _note_drops(self) -> None:
        """A drop is noted at the call of its leg that was entered last before it."""
        for record, leg, _ in self.events:
            if record.event == EVENT.DROP and record.leg:
                before = [
                    row for row in self.legs[leg - 1].rows if row.record.number < record.number
                ]
                if before:
                    before[-1].drop_reason = record.data & 0xFFFFFFFF


def signed(address: int) -> int:
    """Return a number as SQLite stores it."""
    return address - 2 * SIGN if address >= SIGN else address

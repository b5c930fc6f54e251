# SPDX-License-Identifier: MIT
"""Find the packet of each record: from birth to end, an address belongs to one packet.

Input: the records of a log.  Output: records with the number of their packet (series), and of each
packet its parent, and whether it is a sniffer's copy.  Each address is judged alone: what records
show about it is sorted by the time when it was true, and divided at births and after frees.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from .calls import Calls, Nested
from .layout import EVENT, NULL_SKB, OPEN, RETURNS_SKB, SOCK
from .slots import Call, Event, Footprint

BIRTHS = (EVENT.ALLOC, EVENT.CLONE, EVENT.COPY, EVENT.SEGMENT)
PARENTS = (EVENT.CLONE, EVENT.COPY, EVENT.SEGMENT)  # name the parent, and the new skb in `data`
SILENT = (EVENT.TASK, EVENT.XMIT, EVENT.FOOTPRINT)  # of no skb, or of one that may be gone
LATE = (EVENT.GRO_MERGE, EVENT.COALESCE, EVENT.MORPH, EVENT.SOCK_ENQUEUE, EVENT.NF_HOOK)
ENDS = (EVENT.CONSUME, EVENT.DROP)
RECEIVES = {
    "__netif_receive_skb", "__netif_receive_skb_core.constprop.0", "__netif_receive_skb_one_core",
    "__netif_rx", "dev_gro_receive", "enqueue_to_backlog", "gro_cells_receive", "napi_gro_frags",
    "napi_gro_receive", "netif_receive_skb", "netif_receive_skb_core", "netif_rx",
    "netif_rx_internal",
}  # fmt: skip
SENDS = {
    "dev_hard_start_xmit", "loopback_xmit", "start_xmit", "tun_net_xmit", "veth_xmit", "xmit_one",
}  # fmt: skip
PACKET_SOCKETS = {"packet_rcv", "packet_rcv_spkt", "tpacket_rcv"}
SNIFFS = {"dev_queue_xmit_nit", "packet_rcv_fanout"} | PACKET_SOCKETS  # callers of skb_clone()
HOOKS = {"arch_rethook_trampoline", "__kretprobe_trampoline", "return_to_handler"}  # hide callers
BORN, FREED = "born", "freed"


@dataclass(eq=False)
class Record:
    """A call, for one of its packets, or an event; of no packet: `series` is None."""

    number: int  # in order of time
    of: Nested | Event
    skb: int
    flags: int = 0
    carried: int = -1  # n-th further packet of a list | packets left out << 32
    ordinal: int = -1
    footprint: Footprint = field(default_factory=Footprint)
    met: int = 0  # since when its function has the packet
    owner_call: Record | None = None  # the call whose return recorded the event
    life: Life | None = None
    series: Series | None = None
    leg: int = 0

    @property
    def ts(self) -> int:
        return self.of.call.entry if isinstance(self.of, Nested) else self.of.ts

    @property
    def end(self) -> int | None:
        return self.of.call.end if isinstance(self.of, Nested) else None

    @property
    def leaves(self) -> int:
        """Return when its function does not have the packet any more."""
        return max(self.met, -1 if self.end is None else self.end)

    @property
    def call(self) -> Call | None:
        return self.of.call if isinstance(self.of, Nested) else None

    @property
    def event(self) -> int:
        return self.of.event if isinstance(self.of, Event) else 0

    @property
    def data(self) -> int:
        return self.of.data if isinstance(self.of, Event) else 0


@dataclass(eq=False)
class Life:
    """The lifetime at one address between a birth and a free."""

    records: list[Record] = field(default_factory=list)
    birth: Record | None = None  # names the parent whose clone it is
    is_tap: bool = False
    met_a_driver: bool = False

    @property
    def parent(self) -> Life | None:
        return self.birth.life if self.birth else None

    @property
    def has_ip(self) -> bool:
        return any(record.footprint.has_ip for record in self.records)


@dataclass(eq=False)
class Series:
    """One packet: `records` in order of time."""

    number: int
    life: Life
    records: list[Record] = field(default_factory=list)
    parent: Series | None = None


@dataclass(frozen=True)
class _Said:
    """What a record shows about an address at one time (`child`: about the clone's address)."""

    when: int
    record: Record
    is_child: bool
    what: str = ""

    @property
    def order(self) -> tuple[int, int, bool]:
        return self.when, self.record.number, not self.is_child


class Lifetimes:
    """All packets of a log, numbered from 0 on by their first records."""

    def __init__(self, calls: Calls) -> None:
        self._calls, self._log = calls, calls.log
        self.records = _in_order(calls)
        self.rows = {record.ordinal: record for record in self.records}
        self._find_owner_calls()
        self._said: dict[int, list[_Said]] = {}
        self._makers: dict[int, Record | None] = {}  # by number of a birth
        self._listen()
        ends = any(one.what for said in self._said.values() for one in said)
        self._lives = [life for said in self._said.values() for life in _cut(said, not ends)]
        for record in self.records:
            if record.event in LATE and record.owner_call:
                record.life = record.owner_call.life
            if record.life is not None:
                record.life.records.append(record)
        self._lives = [life for life in self._lives if life.records]
        for life in self._lives:
            life.is_tap = self._is_sniffed(life)
            life.met_a_driver = any(
                self.name(record) in RECEIVES | SENDS
                or record.event in (EVENT.SEGMENT, EVENT.START_XMIT)
                for record in life.records
            )
        self.series = self._join()

    def name(self, record: Record) -> str:
        """Return the function of a call."""
        return self._log.functions.get(record.call.func, "") if record.call else ""

    # Which record says what.

    def _find_owner_calls(self) -> None:
        """An event recorded at an exit has its time and CPU, and a kind the function records."""
        ends: dict[tuple[int, int, int], Record] = {}
        for record in self.records:
            if record.call is not None and record.end is not None and record.carried < 0:
                key = record.end, record.call.end_cpu, self._log.event_of.get(record.call.func, 0)
                ends.setdefault(key, record)
        for record in self.records:
            if isinstance(record.of, Event) and record.event in (*BIRTHS, *LATE):
                found = ends.get((record.ts, record.of.cpu, record.event))
                if found is not None and found.number < record.number:
                    record.owner_call = found

    def _listen(self) -> None:
        """Collect what each record shows about which address, and at which time."""
        born = self._births()
        freed: dict[int, list[Record]] = {}  # FREE by address
        for record in self.records:
            if record.event == EVENT.FREE:
                freed.setdefault(record.skb, []).append(record)
        last_maker: dict[tuple[tuple[int, int], int], Record] = {}
        for record in self.records:
            if record.call is not None:
                self._say_call(record, born, freed)
                event = self._log.event_of.get(record.call.func, 0)
                if event in BIRTHS:
                    last_maker[_where(record), event] = record
                continue
            if record.event in BIRTHS:
                maker = last_maker.get((_where(record), record.event))
                entered = maker.ts if maker else record.ts
                if record.owner_call and maker is not record.owner_call:
                    maker, entered = record.owner_call, record.ts
                self._makers[record.number] = maker
                since = record if maker is None else maker
                if record.event in PARENTS and record.data:
                    skb = record.data
                    when = _not_before_free(record, since, entered, freed.get(skb, []))
                    self._say(skb, _Said(when, record, True, BORN))
                if record.event == EVENT.ALLOC and record.skb:
                    when = _not_before_free(record, since, entered, freed.get(record.skb, []))
                    self._say(record.skb, _Said(when, record, False, BORN))
                    continue
            is_late = record.event in LATE and record.owner_call
            if record.skb and record.event not in SILENT and not is_late:
                what = FREED if record.event == EVENT.FREE else ""
                self._say(record.skb, _Said(record.ts, record, False, what))

    def _births(self) -> dict[tuple[int, tuple[int, int]], list[tuple[int, int]]]:
        """Return (number, time) of births by (address, where it was recorded).

        They are recorded, or follow from skbs that functions return.
        """
        made: dict[tuple[int, tuple[int, int]], list[tuple[int, int]]] = {}
        for record in self.records:
            if record.event == EVENT.ALLOC and record.skb:
                skb = record.skb
            elif record.event in PARENTS and record.data:
                skb = record.data
            else:
                continue
            made.setdefault((skb, _where(record)), []).append((record.number, record.ts))
        return made

    def _say_call(
        self,
        record: Record,
        born: dict[tuple[int, tuple[int, int]], list[tuple[int, int]]],
        freed: dict[int, list[Record]],
    ) -> None:
        call = record.call
        assert call is not None
        if record.skb:
            self._say(record.skb, _Said(record.ts, record, False))
            return
        if not (record.flags & RETURNS_SKB and call.end is not None and call.returned):
            return
        skb = call.returned
        births = born.get((skb, _where(record)), [])
        following = births[bisect_left(births, (record.number, 0)) :][:1]
        if not following or following[0][1] > call.end:  # it found the packet
            record.met = call.end
            self._say(skb, _Said(call.end, record, False))
            return
        when = record.ts
        meanwhile = [
            each
            for each in freed.get(skb, [])
            if record.number < each.number and each.ts <= call.end
        ]
        if meanwhile:  # another CPU gave the memory back
            when = meanwhile[-1].ts + 1
        self._say(skb, _Said(when, record, False, BORN))

    def _say(self, skb: int, said: _Said) -> None:
        self._said.setdefault(skb, []).append(said)

    # Sniffers' copies.

    def _is_sniffed(self, life: Life) -> bool:
        maker = self._makers.get(life.birth.number) if life.birth else None
        if life.birth and maker and maker.call:
            is_open = maker.end is None or life.birth.ts <= maker.end
            caller = self._symbol(maker.call.caller)
            if is_open and caller in SNIFFS:
                return True
            if caller in HOOKS and any(self._is_given_to_sniffer(one) for one in life.records):
                return True
        ended = False
        for record in life.records:
            if record.event in ENDS and self._place(record.data) in PACKET_SOCKETS:
                ended = True
            elif self.name(record) not in PACKET_SOCKETS and record.event != EVENT.FREE:
                return False
        return ended

    def _is_given_to_sniffer(self, record: Record) -> bool:
        """Return whether this is the call of a packet socket that gets clones of sent packets."""
        if record.call is None or self.name(record) not in PACKET_SOCKETS | {"packet_rcv_fanout"}:
            return False
        return self._symbol(record.call.caller) == "dev_queue_xmit_nit"

    def _place(self, data: int) -> str:
        """Return where a packet was freed: an offset in the high half."""
        offset = data >> 32
        return self._symbol(self._log.stext + offset - (1 << 32 if offset >> 31 else 0))

    def _symbol(self, address: int) -> str:
        return self._log.symbol(address).partition("+")[0]

    # Lives that are one packet.

    def _join(self) -> list[Series]:
        """Join TCP's original to its next clone, and lives without a driver to their parents."""
        owner: dict[int, Life] = {}  # of records by number
        heirs: dict[int, list[Life]] = {}
        for life in self._lives:
            parent = life.parent
            if parent and not life.is_tap and life.has_ip and not parent.has_ip:
                heirs.setdefault(id(parent), []).append(life)
        for record in self.records:
            if record.life is None:
                continue
            later = [
                (child.birth.number, child)
                for child in heirs.get(id(record.life), [])
                if child.birth and child.birth.number >= record.number
            ]
            life = min(later, key=lambda one: one[0])[1] if later else record.life
            owner[record.number] = _root(life)
        made: dict[int, Series] = {}
        for record in self.records:
            if record.number in owner:
                life = owner[record.number]
                series = made.setdefault(id(life), Series(len(made), life))
                series.records.append(record)
                record.series = series
        for series in made.values():
            parent = series.life.parent
            found = made.get(id(_root(parent))) if parent else None
            series.parent = None if found is series else found
        return list(made.values())


def _cut(said: list[_Said], by_identity: bool) -> list[Life]:
    """Cut at births and after frees; `by_identity`: where headers change, if none is known."""
    lives: list[Life] = []
    before, shown = "", b""
    for one in sorted(said, key=lambda each: each.order):
        begins = one.what == BORN and before != BORN
        identity = one.record.footprint.identity
        if by_identity and identity:
            begins = begins or (shown != b"" and shown != identity)
            shown = identity
        if not lives or begins or (before == FREED and one.what != FREED):
            lives.append(Life())
        before = one.what
        if one.is_child:
            lives[-1].birth = one.record
        else:
            one.record.life = lives[-1]
    return lives


def _root(life: Life) -> Life:
    seen = {id(life)}
    while life.parent is not None and not life.is_tap and not life.met_a_driver:
        life = life.parent
        if id(life) in seen:
            break
        seen.add(id(life))
    return life


def _not_before_free(record: Record, since: Record, entered: int, freed: list[Record]) -> int:
    """Return the time of a birth: its function's start, but not before the memory was free."""
    before = [each for each in freed if each.number < record.number][-1:]
    if before and before[0].number > since.number:
        return max(entered, before[0].ts + 1)
    return entered


def _where(record: Record) -> tuple[int, int]:
    """Return the thread, or the level of interrupts of a CPU."""
    of = record.of.call if isinstance(record.of, Nested) else record.of
    return (-1, of.pid) if of.context == 0 and of.pid > 0 else (of.context, of.cpu)


def _in_order(calls: Calls) -> list[Record]:
    """Return records in order; at one time: entries, then further packets of lists, then others."""
    made: list[tuple[tuple[int, int, int], Record]] = []
    for nested in calls.all:
        call = nested.call
        own = Record(
            0,
            nested,
            call.skb,
            call.flags,
            ordinal=call.ordinal,
            footprint=call.footprint,
            met=call.entry,
        )
        made.append(((call.entry, 0, call.ordinal), own))
        flags = call.flags & ~(RETURNS_SKB | SOCK | NULL_SKB) | (OPEN if call.end is None else 0)
        for each in call.further:
            more = Record(
                0, nested, each.skb, flags, each.data, each.ordinal, each.footprint, call.entry
            )
            made.append(((call.entry, 1, each.ordinal), more))
    for event in calls.log.events:
        own = Record(0, event, event.skb, ordinal=event.ordinal, met=event.ts)
        made.append(((event.ts, 2, event.ordinal), own))
    made.sort(key=lambda one: one[0])
    for number, (_, record) in enumerate(made):
        record.number = number
    return [record for _, record in made]

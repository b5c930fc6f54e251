# SPDX-License-Identifier: MIT
"""The records of a .kbl, one by one.

Input: a file.  Output: calls, events, losses in the order written; names of functions, calibration.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .layout import (
    CHUNK,
    CHUNK_HEADER,
    CLOCK,
    COMM,
    COST,
    COUNTER,
    COUNTERS,
    DEVICE,
    ENTRY_SLOT,
    EVENT,
    EVENT_SLOT,
    EXT,
    FULL,
    HEADER,
    KIND,
    LAYOUT,
    LONG,
    LOST_SLOT,
    MODULE_CALLER,
    NO_CALLER,
    OPEN,
    PROBE,
    RETURNED,
    SIZE,
    SKB,
    SOCK,
    SPAN,
    SYMBOL,
    UNREAD,
    V4,
    V6,
    V6_L4,
)  # fmt: skip

LAST = "\U0010ffff"  # behind all names


@dataclass(frozen=True)
class Footprint:
    """What the kernel knew of a packet; -1: not known."""

    netns: int = -1
    ifindex: int = -1
    ethertype: int = -1
    sk: int = -1
    mark: int = -1
    identity: bytes = b""  # addresses, protocol and identification; without an IP header none

    @property
    def has_ip(self) -> bool:
        return bool(self.identity)


NOTHING = Footprint()


@dataclass(eq=False)
class Call:
    """A probed function from its entry to its exit (None: it did not return)."""

    func: int
    entry: int
    cpu: int
    context: int
    pid: int  # -1: not known
    flags: int
    skb: int
    sock: int
    end: int | None = None
    end_cpu: int = -1
    returned: int = 0
    caller: int = 0  # the return address; 0: not known
    ordinal: int = -1  # of its head slot in the file
    counter: int | None = None  # events of the hardware counter
    footprint: Footprint = NOTHING
    further: list[Event] = field(default_factory=list)  # CARRY: more packets of its list


@dataclass(eq=False)
class Event:
    """What happened at a time."""

    ts: int
    event: int
    cpu: int
    context: int
    pid: int
    skb: int
    data: int
    ordinal: int = -1
    footprint: Footprint = NOTHING


@dataclass(frozen=True)
class Loss:
    """Records of a CPU that are missing; of MISSED hits nobody knows on which."""

    begin: int
    end: int
    cpu: int
    reason: int
    count: int = 0


@dataclass
class Log:
    """What a file holds."""

    calls: list[Call] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    written: list[Event] = field(default_factory=list)  # every record of an event
    losses: list[Loss] = field(default_factory=list)
    functions: dict[int, str] = field(default_factory=dict)
    takes: dict[int, bool] = field(default_factory=dict)  # functions with a packet as argument
    event_of: dict[int, int] = field(default_factory=dict)  # functions: the event they tell of
    threads: dict[int, str] = field(default_factory=dict)
    idle: dict[int, str] = field(default_factory=dict)  # of thread 0, by CPU
    symbols: list[tuple[int, str]] = field(default_factory=list)  # address, name; sorted
    stext: int = 0
    wall_ns: int = 0  # what the host's wall clock was ahead of the log's clock
    wall_error_ns: int = 0  # within this time the two were read
    devices: dict[tuple[int, int], str] = field(default_factory=dict)  # by (namespace, number)
    meta: dict[str, str] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)  # the recorder's own
    slots: int = 0  # records: head slots
    arch: str = ""  # of the machine

    def comm(self, pid: int, cpu: int) -> str:
        """Return what a thread is called; each CPU has its own thread 0."""
        return self.idle.get(cpu, "") if pid == 0 else self.threads.get(pid, "")

    def symbol(self, address: int) -> str:
        """Return the function that an address lies in, with the offset; "" for 0."""
        number = bisect_right(self.symbols, (address, LAST))
        name = self.symbols[number - 1][1] if number else ""
        if not name:
            return f"0x{address:x}" if address else ""
        function, _, module = name.partition(" ")
        offset = f"{function}+0x{address - self.symbols[number - 1][0]:x}"
        return f"{offset} {module}" if module else offset

    def device(self, netns: int, ifindex: int) -> str:
        """Return what a device is called."""
        return self.devices.get((netns, ifindex)) or (f"if{ifindex}" if ifindex > 0 else "")

    calibration: dict[str, int] | None = None


TABLES = {
    CHUNK.PROBES: PROBE,
    CHUNK.SYMBOLS: SYMBOL,
    CHUNK.DEVICES: DEVICE,
    CHUNK.COUNTERS: COUNTERS,
}


def read(path: Path) -> Log:
    """Return the log in a little-endian file of version 3.  Raises AssertionError for others."""
    data, log = path.read_bytes(), Log()
    header = HEADER.at(data, 0)
    assert header["magic"] == LAYOUT["KBL_MAGIC"] and header["version"] == 3
    log.stext, log.arch = header["stext"], header["arch"].split(b"\0")[0].decode()
    log.wall_ns = header["start_real_ns"] - header["start_mono_ns"]
    at, strings, tables = header["header_len"], b"", dict[int, list[dict[str, Any]]]()
    reader, records = _Reader(log), list[tuple[dict[str, Any], int, int]]()
    readings = list[dict[str, Any]]()
    while at + CHUNK_HEADER.size <= len(data):
        chunk = CHUNK_HEADER.at(data, at)
        begin = at + CHUNK_HEADER.size
        at = begin + chunk["payload_len"]
        if at > len(data):
            break  # cut short
        if chunk["type"] == CHUNK.STRINGS:
            strings = data[begin:at]
        elif chunk["type"] in TABLES and chunk["nr_items"]:
            size = chunk["payload_len"] // chunk["nr_items"]
            what = TABLES[chunk["type"]]
            rows = [what.at(data, begin + size * n) for n in range(chunk["nr_items"])]
            tables[chunk["type"]] = rows
        elif chunk["type"] == CHUNK.META:
            lines = data[begin:at].partition(b"\0")[0].decode().splitlines()
            log.meta = dict(line.split("=", 1) for line in lines if line)
        elif chunk["type"] == CHUNK.CALIBRATION:
            log.calibration = COST.at(data[begin:at].ljust(COST.size, b"\0"), 0)
        elif chunk["type"] == CHUNK.CLOCK:
            readings.append(CLOCK.at(data, begin))
        elif chunk["type"] == CHUNK.RECORDS:
            records.append((chunk, begin, at))

    if readings:  # the header's own may have taken longer, and does not say how long
        best = min(readings, key=lambda one: one["uncertainty_ns"])
        log.wall_ns = best["real_ns"] - best["mono_ns"]
        log.wall_error_ns = best["uncertainty_ns"]

    def name(row: dict[str, Any], of: str = "name") -> str:
        return strings[row[of] : strings.index(b"\0", row[of])].decode()

    for probe in tables.get(CHUNK.PROBES, []):
        log.functions[probe["id"]] = name(probe)
        log.takes[probe["id"]] = probe["arg"] != 0xFF
        log.event_of[probe["id"]] = probe["event"]
    symbols = [(row["addr"], name(row), name(row, "module")) for row in tables[CHUNK.SYMBOLS]]
    log.symbols = [(at, f"{name} [{module}]" if module else name) for at, name, module in symbols]
    for row in tables.get(CHUNK.DEVICES, []):
        device_name = row["name"].split(b"\0")[0].decode()
        log.devices[row["netns"], row["ifindex"]] = device_name
    log.counters = tables[CHUNK.COUNTERS][-1] if CHUNK.COUNTERS in tables else {}
    for chunk, begin, end in records:
        reader.read(data, chunk, begin, end)
    log.slots = reader.ordinal
    reader.carry()
    reader.fill_footprints()
    return log


class _Reader:
    """Slots, CPU by CPU."""

    def __init__(self, log: Log) -> None:
        self._log, self._cpu, self.ordinal = log, -1, 0
        self._pids: dict[int, int] = {}
        self._following: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._carried: list[Event] = []
        self._prints: dict[tuple[int, int], list[tuple[int, Footprint]]] = {}
        self._named: dict[tuple[int, int], int] = {}  # when a thread, of a CPU, got its name
        self._holes: list[tuple[int, int]] = []  # (CPU, time): nothing known before holds after

    def read(self, data: bytes, chunk: dict[str, Any], at: int, end: int) -> None:
        """One chunk."""
        self._cpu = chunk["cpu"]
        if self._following.get(self._cpu) != chunk["seq"]:
            self._pids[self._cpu] = -1
            if self._cpu in self._last:
                self._holes.append((self._cpu, self._last[self._cpu] + 1))
        self._following[self._cpu] = chunk["seq"] + 1
        self._last[self._cpu] = chunk["last_ns"]
        while at < end:
            kind, ext = data[at], data[at + 3]
            more = [at + SIZE * (n + 1) for n in range(ext)]
            if kind == KIND.CALL:
                self._call(data, at, more)
            elif kind == KIND.EVENT:
                self._event(data, at, more)
            elif kind == KIND.LOST:
                lost = LOST_SLOT.at(data, at)
                span = lost["first_ns"], lost["ts"]
                loss = Loss(*span, self._cpu, lost["reason"], lost["count"])
                self._log.losses.append(loss)
                if loss.reason == FULL:
                    self._holes.append((self._cpu, loss.begin))
            elif kind == KIND.ENTRY:
                slot = ENTRY_SLOT.at(data, at)
                assert slot["flags"] & OPEN, "an ENTRY without its EXIT"
                self._log.calls.append(
                    Call(
                        slot["func"], slot["ts"], self._cpu, slot["context"], slot["pid"],
                        slot["flags"], *_of(slot), caller=self._caller(slot),
                        ordinal=self.ordinal,
                    )
                )  # fmt: skip
            else:
                raise AssertionError(f"a slot of kind {kind}")
            at += SIZE * (1 + ext)
            self.ordinal += 1

    def _call(self, data: bytes, at: int, more: list[int]) -> None:
        slot = SPAN.at(data, at)
        dur, returned, counter = slot["dur"], 0, None
        for each in more:
            if data[each + 1] == EXT.COUNTER and counter is None:
                extra = COUNTER.at(data, each)
                counter = extra["count"] if extra["valid"] else -1
            if data[each + 1] == EXT.CALL:
                extra = RETURNED.at(data, each)
                dur, returned = extra["dur"] if dur == LONG else dur, extra["ret"]
        self._log.calls.append(
            Call(
                slot["func"], slot["ts"], slot["entry_cpu"], slot["context"],
                self._pids[self._cpu], slot["flags"], *_of(slot), slot["ts"] + dur, self._cpu,
                returned & (1 << 64) - 1, self._caller(slot), self.ordinal,
                counter,
            )
        )  # fmt: skip

    def _caller(self, slot: dict[str, Any]) -> int:
        if slot["flags"] & NO_CALLER:
            return 0
        if slot["flags"] & MODULE_CALLER:
            known = 0 <= slot["caller"] < len(self._log.symbols)
            return self._log.symbols[slot["caller"]][0] if known else 0
        return int(self._log.stext + slot["caller"])

    def _event(self, data: bytes, at: int, more: list[int]) -> None:
        slot = EVENT_SLOT.at(data, at)
        made = Event(
            slot["ts"], slot["event"], self._cpu, slot["context"], slot["pid"], slot["skb"],
            slot["data"], self.ordinal,
        )  # fmt: skip
        self._log.written.append(made)
        if made.event == EVENT.TASK:
            self._pids[self._cpu] = made.pid
            for each in more:
                if data[each + 1] == EXT.COMM:
                    name = COMM.at(data, each)["comm"].split(b"\0")[0]
                    self._call_thread(made, name.decode(errors="replace"))
        elif made.event == EVENT.CARRY:
            self._carried.append(made)
        elif made.event == EVENT.FOOTPRINT:
            known = self._prints.setdefault((self._cpu, made.skb), [])
            known.append((made.ts, _footprint(data, more)))
        else:
            self._log.events.append(made)

    def _call_thread(self, task: Event, name: str) -> None:
        """Keep the latest name, by time: chunks of another CPU may hold older ones."""
        names, key = self._log.threads, task.pid
        if task.pid == 0:
            names, key = self._log.idle, self._cpu
        since = self._named.get((task.pid, key), task.ts)
        if task.ts >= since:
            names[key], self._named[task.pid, key] = name, task.ts

    def carry(self) -> None:
        """Give calls the further packets of their lists; without its call it is an event."""
        entered = {(call.cpu, call.entry): call for call in self._log.calls}
        for each in self._carried:
            call = entered.get((each.cpu, each.ts))
            (self._log.events if call is None else call.further).append(each)

    def fill_footprints(self) -> None:
        """Give each call and further packet its skb's latest footprint on that CPU."""
        for known in self._prints.values():
            known.sort(key=lambda one: one[0])
        for call in self._log.calls:
            if call.sock:
                call.footprint = Footprint(sk=call.sock)
            elif not call.flags & UNREAD:
                call.footprint = self._known(call.cpu, call.skb, call.entry)
        for each in self._carried:
            each.footprint = self._known(each.cpu, each.skb, each.ts)

    def _known(self, cpu: int, skb: int, at: int) -> Footprint:
        shown = self._prints.get((cpu, skb), [])
        number = bisect_right(shown, at, key=lambda one: one[0])
        if not number:
            return NOTHING
        since, found = shown[number - 1]
        void = any(of == cpu and since < hole <= at for of, hole in self._holes)
        return NOTHING if void else found


def _footprint(data: bytes, more: list[int]) -> Footprint:
    made, identity = {}, b""
    for each in more:
        if data[each + 1] == EXT.SKB:
            slot = SKB.at(data, each)
            made = {name: slot[name] for name in ("netns", "ifindex", "ethertype", "sk", "mark")}
            made["netns"] = made["netns"] or -1
        elif data[each + 1] == EXT.IPV4:
            of = V4.at(data, each)
            identity += of["saddr"] + of["daddr"] + bytes([of["protocol"]])
            identity += of["ip_id"].to_bytes(2, "big")
        elif data[each + 1] == EXT.IPV6:
            of = V6.at(data, each)
            identity += of["saddr_hi"] + of["saddr_lo"] + of["daddr_hi"] + bytes([of["nexthdr"]])
        elif data[each + 1] == EXT.IPV6_L4:
            identity += V6_L4.at(data, each)["daddr_lo"]
    return Footprint(**made, identity=identity)


def _of(slot: dict[str, Any]) -> tuple[int, int]:
    """Return the packet and the socket that a call was given."""
    return (0, slot["skb"]) if slot["flags"] & SOCK else (slot["skb"], 0)

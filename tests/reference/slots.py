# SPDX-License-Identifier: MIT
"""The records of a .kbl, one by one.

In: a file.  Out: calls, events and losses in the order written, names of functions, calibration.
"""

from __future__ import annotations

import runpy
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

LAYOUT = runpy.run_path(
    str(Path(__file__).parents[2] / "skbviewer/readers/_kbl_layout.py"), run_name="layout"
)
KIND, EVENT, CHUNK, EXT = (
    LAYOUT[name] for name in ("KblKind", "KblEvent", "KblChunkType", "KblExtType")
)
SIZE = LAYOUT["KBL_SLOT_SIZE"]
SOCK, OPEN, RETURNS_SKB, NULL_SKB = (
    LAYOUT[f"KBL_FLAG_{name}"] for name in ("SOCK", "OPEN", "SKB_IS_RET", "NULL_SKB")
)
LONG = 0xFFFFFFFF  # the duration is in KBL_EXT_CALL


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
    further: list[int] = field(default_factory=list)  # more packets of its list


@dataclass(frozen=True)
class Event:
    """What happened at a time."""

    ts: int
    event: int
    cpu: int
    context: int
    pid: int
    skb: int
    data: int


@dataclass(frozen=True)
class Loss:
    """Records of a CPU that are missing; of MISSED hits nobody knows on which."""

    begin: int
    end: int
    cpu: int
    reason: int


@dataclass
class Log:
    """What a file holds."""

    calls: list[Call] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    functions: dict[int, str] = field(default_factory=dict)
    takes: dict[int, bool] = field(default_factory=dict)  # functions with a packet as argument
    threads: dict[int, str] = field(default_factory=dict)
    calibration: dict[str, int] | None = None


class Struct:
    """A struct of the layout, as Python's struct module reads it."""

    CODES: ClassVar = {
        "u1": "B",
        "u2": "H",
        "u4": "I",
        "u8": "Q",
        "i1": "b",
        "i2": "h",
        "i4": "i",
        "i8": "q",
    }

    def __init__(self, name: str) -> None:
        dtype = LAYOUT[name]
        self.names = dtype.names
        codes = ""
        for each in self.names:
            base, shape = dtype[each].base, dtype[each].shape
            if base.kind == "S":
                codes += f"{base.itemsize}s"
            elif shape:
                codes += f"{base.itemsize * shape[0]}s"
            else:
                codes += self.CODES[f"{base.kind}{base.itemsize}"]
        self._struct = struct.Struct("<" + codes)
        self.size = self._struct.size

    def at(self, data: bytes, begin: int) -> dict[str, Any]:
        """Its members, at a place of the file."""
        return dict(zip(self.names, self._struct.unpack_from(data, begin), strict=True))


HEADER, CHUNK_HEADER = Struct("KBL_FILE_HEADER"), Struct("KBL_CHUNK_HEADER")
ENTRY_SLOT, SPAN, EVENT_SLOT, LOST_SLOT = (
    Struct(f"KBL_{name}_SLOT") for name in ("CALL", "SPAN", "EVENT", "LOST")
)
RETURNED, COMM, PROBE, COST = (
    Struct(f"KBL_{name}") for name in ("EXT_CALL", "EXT_COMM", "PROBE", "CALIBRATION")
)


def read(path: Path) -> Log:
    """All of a little-endian file of version 3 without holes; AssertionError for another."""
    data, log = path.read_bytes(), Log()
    header = HEADER.at(data, 0)
    assert header["magic"] == LAYOUT["KBL_MAGIC"] and header["version"] == 3
    at, strings, probes = header["header_len"], b"", list[dict[str, Any]]()
    streams = dict[int, _Stream]()
    while at + CHUNK_HEADER.size <= len(data):
        chunk = CHUNK_HEADER.at(data, at)
        begin = at + CHUNK_HEADER.size
        at = begin + chunk["payload_len"]
        if at > len(data):
            break  # cut short
        if chunk["type"] == CHUNK.STRINGS:
            strings = data[begin:at]
        elif chunk["type"] == CHUNK.PROBES:
            size = chunk["payload_len"] // chunk["nr_items"]
            probes = [PROBE.at(data, begin + size * n) for n in range(chunk["nr_items"])]
        elif chunk["type"] == CHUNK.CALIBRATION:
            log.calibration = COST.at(data[begin:at].ljust(COST.size, b"\0"), 0)
        elif chunk["type"] == CHUNK.RECORDS:
            streams.setdefault(chunk["cpu"], _Stream(log, chunk["cpu"])).read(data, begin, at)
    for probe in probes:
        end = strings.index(b"\0", probe["name"])
        log.functions[probe["id"]] = strings[probe["name"] : end].decode()
        log.takes[probe["id"]] = probe["arg"] != 0xFF
    for stream in streams.values():
        stream.carry()
    return log


class _Stream:
    """The records of one CPU."""

    def __init__(self, log: Log, cpu: int) -> None:
        self._log, self._cpu, self._pid = log, cpu, -1
        self._carried: list[Event] = []

    def read(self, data: bytes, at: int, end: int) -> None:
        while at < end:
            kind, ext = data[at], data[at + 3]
            more = [at + SIZE * (n + 1) for n in range(ext)]
            if kind == KIND.CALL:
                self._call(data, at, more)
            elif kind == KIND.EVENT:
                self._event(data, at, more)
            elif kind == KIND.LOST:
                lost = LOST_SLOT.at(data, at)
                self._log.losses.append(
                    Loss(lost["first_ns"], lost["ts"], self._cpu, lost["reason"])
                )
            elif kind == KIND.ENTRY:
                slot = ENTRY_SLOT.at(data, at)
                assert slot["flags"] & OPEN, "an ENTRY without its EXIT"
                self._log.calls.append(
                    Call(
                        slot["func"], slot["ts"], self._cpu, slot["context"], slot["pid"],
                        slot["flags"], *_of(slot),
                    )
                )  # fmt: skip
            else:
                raise AssertionError(f"a slot of kind {kind}")
            at += SIZE * (1 + ext)

    def _call(self, data: bytes, at: int, more: list[int]) -> None:
        slot = SPAN.at(data, at)
        dur = slot["dur"]
        for each in more:
            if data[each + 1] == EXT.CALL:
                dur = RETURNED.at(data, each)["dur"] if dur == LONG else dur
        self._log.calls.append(
            Call(
                slot["func"], slot["ts"], slot["entry_cpu"], slot["context"], self._pid,
                slot["flags"], *_of(slot), slot["ts"] + dur, self._cpu,
            )
        )  # fmt: skip

    def _event(self, data: bytes, at: int, more: list[int]) -> None:
        slot = EVENT_SLOT.at(data, at)
        made = Event(
            slot["ts"], slot["event"], self._cpu, slot["context"], slot["pid"], slot["skb"],
            slot["data"],
        )  # fmt: skip
        if made.event == EVENT.TASK:
            self._pid = made.pid
            for each in more:
                if data[each + 1] == EXT.COMM:
                    name = COMM.at(data, each)["comm"].split(b"\0")[0]
                    self._log.threads[made.pid] = name.decode(errors="replace")
        elif made.event == EVENT.CARRY:
            self._carried.append(made)
        elif made.event != EVENT.FOOTPRINT:
            self._log.events.append(made)

    def carry(self) -> None:
        """Give calls the further packets of their lists."""
        entered = {(call.cpu, call.entry): call for call in self._log.calls}
        for each in self._carried:
            entered[self._cpu, each.ts].further.append(each.skb)


def _of(slot: dict[str, Any]) -> tuple[int, int]:
    """The packet and the socket that a call was given."""
    return (0, slot["skb"]) if slot["flags"] & SOCK else (slot["skb"], 0)

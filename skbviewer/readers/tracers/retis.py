# SPDX-License-Identifier: MIT
"""Read retis logs: one JSON object an event, or one JSON array of events a line (sorted).

Layout: retis-events of https://github.com/retis-org/retis, versions 1.5 to 1.7.  Each event is a
point: a probe had an skb.  Lines that cannot be used are left out and counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from ...records import BadInput, ClockTriple, KernelLog, Probe, Progress, SourceKind, counted
from ..printable_names import printable
from ..source import Source
from .json_lines import lines
from .point_columns import Point, PointColumns

OLDEST, NEWEST = (1, 5), (1, 7)
NS = 1_000_000_000
WORD, INODE, INT32 = (1 << 64) - 1, (1 << 32) - 1, (1 << 31) - 1
MARKS = (b'"retis_version"', b'"skb-tracking"', b'"clock_monotonic_offset"')
RETURNS = "kretprobe"
RAW = ("data", "raw")  # bytes of packets
STEP = 1 << 14  # events after which progress is reported

Event = dict[str, Any]


class _Unusable(Exception):
    """An event cannot be used, and why."""


def is_retis(head: bytes, name: str) -> bool:
    """Whether a file that begins with `head` is a retis log."""
    return head.lstrip()[:1] in (b"{", b"[") and any(mark in head for mark in MARKS)


def read_retis(data: Source, progress: Progress, folder: Path | None) -> KernelLog:
    """Read a retis log.  Many records are in nameless files in `folder`.

    Raises BadInput if the log does not begin with a startup event, is of a version before 1.5, or
    has a line that is too long; Cancelled.
    """
    with closing(PointColumns()) as points:
        made = _Log(data.path, points)
        for number, (offset, event) in enumerate(_events(data, made)):
            if number % STEP == 0:
                progress.report(f"reading {data.path.name}", offset, len(data))
            made.add(offset, event)
        if not made.clock:
            raise BadInput(data.path, 0, "not a retis log: it does not begin with a startup event")
        return made.log(progress, folder)


def _events(data: Source, made: _Log) -> Iterator[tuple[int, Any]]:
    """(offset of its line, event) of all events; lines that are no JSON are noted."""
    for offset, line in lines(data):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            is_last = offset + len(line) >= len(data)
            made.leave_out(offset, "the last line is cut" if is_last else "not valid JSON")
            continue
        for event in found if isinstance(found, list) else (found,):
            yield offset, event


class _Log:
    """What is known of a log so far."""

    def __init__(self, path: Path, points: PointColumns) -> None:
        self.path, self.clock = path, list[ClockTriple]()
        self._startup: Event = {}
        self._version = (0, 0)
        self._points = points
        self._left: Counter[str] = Counter()
        self._first: dict[str, int] = {}
        self._probes: dict[tuple[str, str], int] = {}
        self._reasons: dict[str, int] = {}
        self._tasks: dict[int, str] = {}
        self._devices: dict[tuple[int, int], str] = {}

    def leave_out(self, offset: int, why: str) -> None:
        """Note an event that cannot be used."""
        self._left[why] += 1
        self._first.setdefault(why, offset)

    def add(self, offset: int, event: Any) -> None:
        """One event more.  Raises BadInput if the first one is not a usable startup event."""
        try:
            if not isinstance(event, dict):
                raise _Unusable("not a JSON object")
            if not self.clock:
                self._start(event)
            elif "kernel" in event:
                self._add_point(event)
        except _Unusable as error:
            if not self.clock:
                raise BadInput(self.path, offset, f"not a retis log: {error}") from error
            self.leave_out(offset, str(error))

    def _start(self, event: Event) -> None:
        startup = _section(event, "startup")
        if not startup:
            raise _Unusable("it does not begin with a startup event (retis 1.5 or newer writes it)")
        text = startup.get("retis_version")
        version = re.match(r"v?(\d+)\.(\d+)", text if isinstance(text, str) else "")
        if version is None:
            raise _Unusable("its startup event names no version")
        if (int(version[1]), int(version[2])) < OLDEST:
            raise _Unusable(f"retis {version[0]} is older than 1.5")
        offset = _section(startup, "clock_monotonic_offset")
        ahead = _number(offset, "sec") * NS + _number(offset, "nsec")
        now = _number(_section(event, "common"), "timestamp")
        self._startup = startup
        self._version = int(version[1]), int(version[2])
        self.clock.append(ClockTriple(now, now + ahead, -1, -1))

    def _add_point(self, event: Event) -> None:
        common, kernel = _section(event, "common"), _section(event, "kernel")
        skb, tracking = _section(event, "skb"), _section(event, "skb-tracking")
        device = _section(event, "dev") or _section(skb, "dev")
        space = _section(event, "netns") or _section(skb, "ns")
        packet = _section(event, "packet") or _section(skb, "packet")
        meta, gso = _section(skb, "meta"), _section(skb, "gso")
        task, drop = _section(common, "task"), _section(event, "skb-drop")
        netns = _known(space, "inum" if "inum" in space else "netns", INODE)
        ifindex = _known(device, "ifindex")
        pid = _known(task, "pid")
        point = Point(
            ts=_number(common, "timestamp"),
            cpu=_known(common, "smp_id"),
            func=self._probe(_text(kernel, "symbol"), _text(kernel, "probe_type")),
            pid=pid,
            skb=_number(tracking, "skb") if tracking else 0,
            reason=self._reason(drop) if drop else -1,
            tracked=_number(tracking, "timestamp") if tracking else 0,
            head=_number(tracking, "orig_head") if tracking else 0,
            ifindex=ifindex,
            netns=netns,
            skb_len=_known(meta, "len"),
            gso_size=_known(gso, "size"),
            gso_segs=_known(gso, "segs"),
            length=_known(packet, "len"),
        )
        if point.ts > WORD >> 1:
            raise _Unusable("timestamp is not a time in nanoseconds")
        bytes_ = _text(packet, "data" if "data" in packet else "raw") if packet else ""
        if not self._points.add(point, bytes_):
            raise _Unusable("the packet's bytes are not base64")
        if pid >= 0 and isinstance(task.get("comm"), str):
            self._tasks[pid] = printable(task["comm"])
        if ifindex >= 0 and netns >= 0 and isinstance(device.get("name"), str):
            self._devices[netns, ifindex] = printable(device["name"])

    def _probe(self, symbol: str, type_: str) -> int:
        return self._probes.setdefault((symbol, type_), len(self._probes))

    def _reason(self, drop: Event) -> int:
        subsystem = f"{_text(drop, 'subsys')}/" if isinstance(drop.get("subsys"), str) else ""
        text = subsystem + _text(drop, "drop_reason")
        return self._reasons.setdefault(text, len(self._reasons) + 1)

    def log(self, progress: Progress, folder: Path | None) -> KernelLog:
        """The whole log."""
        records, lifetimes = self._points.finish(self.path, progress, folder)
        machine = self._startup.get("machine")
        machine = machine if isinstance(machine, dict) else {}
        meta = {"tracer": "retis {}.{}".format(*self._version)}
        if isinstance(self._startup.get("cmdline"), str):
            meta["cmdline"] = printable(self._startup["cmdline"])
        meta |= {f"drop_reason.{number}": text for text, number in self._reasons.items()}
        for (symbol, type_), number in self._probes.items():
            meta[f"point.{number}"] = f"{symbol} (return)" if type_ == RETURNS else symbol
        return KernelLog(
            path=self.path,
            version=0,
            records=records,
            probes={n: _as_probe(n, *key) for key, n in self._probes.items()},
            symbols={},
            tasks=self._tasks,
            devices=self._devices,
            clock=tuple(self.clock),
            stext=0,
            release=printable(str(machine.get("kernel_release", ""))),
            hostname="",
            arch=printable(str(machine.get("hardware_name", ""))),
            lost_records=0,
            meta=meta,
            warnings=self._warnings(len(records)),
            kind=SourceKind.RETIS,
            returns=False,
            lifetimes=lifetimes,
        )

    def _warnings(self, count: int) -> tuple[str, ...]:
        made = [
            f"{self.path} at byte {self._first[why]}: {why}; {counted(number, 'event')} left out"
            for why, number in self._left.items()
        ]
        if self._version > NEWEST:
            text = "retis {}.{} is newer than the versions that are known".format(*self._version)
            made.append(f"{self.path}: {text}")
        if not count:
            made.append(f"{self.path}: the file has no points")
        return tuple(made)


def _as_probe(number: int, symbol: str, type_: str) -> Probe:
    return Probe(number, symbol, "", 0, 0, False, 0, 0, 0, 0)


def _section(event: Event, name: str) -> Event:
    """A section of an event, {} if it has none."""
    found = event.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _Unusable(f"section {name} is not a JSON object")
    return found


def _number(section: Event, name: str) -> int:
    found = section.get(name)
    if type(found) is not int or not 0 <= found <= WORD:
        raise _Unusable(f"{name} is not a number of 64 bits")
    return found


def _known(section: Event, name: str, most: int = INT32) -> int:
    """A number up to `most`, or -1 if the section does not have it."""
    found = section.get(name, -1)
    if type(found) is not int or not -1 <= found <= most:
        raise _Unusable(f"{name} is not a number from 0 to {most}")
    return found


def _text(section: Event, name: str) -> str:
    found = section.get(name)
    if not isinstance(found, str):
        raise _Unusable(f"{name} is not a text")
    return found if name in RAW else printable(found)

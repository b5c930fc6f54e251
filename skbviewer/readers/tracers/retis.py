# SPDX-License-Identifier: MIT
"""Read retis logs: one JSON object per event, or (if sorted) one JSON array of events per line.

Layout: event_keys.py.  Each event is a point: a place in the code where a probe saw an skb.  Events
that cannot be used are left out, and their number is reported.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...records import (
    PACKET_DTYPE,
    BadInput,
    Capture,
    ClockTriple,
    ColumnTable,
    Interface,
    KernelLog,
    Probe,
    Progress,
    SourceKind,
    counted,
)
from ...records.types import LATEST_NS, Int64s, UInt8s
from ..input_file import Source
from .event_block import EventBlock
from .event_json import (
    LARGEST,
    NO_TIME,
    TOO_LARGE,
    Event,
    EventValues,
    Unusable,
    number,
    parse_event,
    section,
    values_of,
)
from .event_rows import OTHER, POINT, Scanned, no_rows
from .event_scan import new_shapes, new_state, scan
from .event_scan_loops import AT
from .line_blocks import LineBlock, line_blocks
from .point_columns import (
    ETHERNET,
    PACKET_COLUMNS,
    PacketsOfLifetimes,
    PointColumns,
    PointPackets,
)
from .shared_point_values import Distinct, hashes_with_numbers, pair_hashes, readable

OLDEST, NEWEST = (1, 5), (1, 7)
NS = 1_000_000_000
MARKS = (b'"retis_version"', b'"skb-tracking"', b'"clock_monotonic_offset"')
RETURNS = "kretprobe"
CUT = "the last line is cut"
NO_ARRAY_END = "not valid JSON"
NO_BASE64 = "the packet's bytes are not base64"
PACKETS_OF_LOG = Interface(ETHERNET, "", 0)
CLOCK = "CLOCK_MONOTONIC"  # bpf_ktime_get_ns()


def is_retis(head: bytes, name: str) -> bool:
    """Return whether a file that begins with `head` is a retis log."""
    return head.removeprefix(BOM_UTF8).lstrip()[:1] in (b"{", b"[") and any(
        mark in head for mark in MARKS
    )


def read_retis(data: Source, progress: Progress, folder: Path | None) -> KernelLog:
    """Read the retis log `data`.

    A large table of records is stored in nameless files in `folder`.  Raises BadInput if the log
    does not begin with a startup event, is of a version before 1.5, or has a line that is too long;
    raises Cancelled.
    """
    with closing(PointColumns()) as points:
        return _read(data, progress, points).log(progress, folder)


def retis_packets(data: Source, progress: Progress) -> UInt8s:
    """Return the bytes of all packets in a log; offsets of packets are positions in them.

    Raises the errors of read_retis().
    """
    with closing(PointColumns()) as points:
        _read(data, progress, points)
        return points.packets.contents()


def retis_points(data: Source, progress: Progress) -> PointPackets:
    """Return the packets of all points of a log, in the order of its records.

    Raises the errors of read_retis().
    """
    with closing(PointColumns(PACKET_COLUMNS)) as points:
        _read(data, progress, points)
        return points.found()


def _read(data: Source, progress: Progress, points: PointColumns) -> _Log:
    made, rows = _Log(data.path, points), no_rows()
    state, shapes = new_state(), new_shapes()
    for block in line_blocks(data):
        progress.report(f"reading {data.path.name}", block.offset, len(data))
        if block.offset == 0 and block.text[: len(BOM_UTF8)].tobytes() == BOM_UTF8:
            block.text[: len(BOM_UTF8)] = ord(" ")  # white space, so that offsets are the file's
        is_last = block.offset + len(block.text) >= len(data)
        state[AT] = 0
        while state[AT] < len(block.text):
            made.add(block, rows, scan(block.text, state, rows, shapes), is_last)
    if not made.clock:
        raise BadInput(data.path, 0, "not a retis log: it does not begin with a startup event")
    return made


class _Log:
    """The parts of a log that have been read so far."""

    def __init__(self, path: Path, points: PointColumns) -> None:
        self.path, self.clock = path, list[ClockTriple]()
        self._startup: Event = {}
        self._version = (0, 0)
        self._points = points
        self._left: Counter[str] = Counter()
        self._first: dict[str, int] = {}
        self._sections = Distinct[str]()
        self._probe_of, self._reason_of = Distinct[int](), Distinct[int]()
        self._task_names = Distinct[tuple[int, str]]()
        self._device_names = Distinct[tuple[tuple[int, int], str]]()
        self._probes: dict[tuple[str, str], int] = {}
        self._reasons: dict[str, int] = {}
        self._tasks: dict[int, str] = {}
        self._devices: dict[tuple[int, int], str] = {}

    def leave_out(self, offset: int, why: str) -> None:
        """Leave out the event at `offset`, and count it under the reason `why`."""
        self._left[why] += 1
        self._first.setdefault(why, offset)

    def add(self, block: LineBlock, rows: Scanned, count: int, is_last: bool) -> None:
        """Add the events of one pass over the log.

        Raises BadInput if the first event of the log is not a usable startup event.
        """
        others: dict[int, EventValues] = {}
        for row in np.flatnonzero(rows.kind[:count] != POINT).tolist():
            begin, end = int(rows.begin[row]), int(rows.end[row])
            at_end = is_last and end >= len(block.text)
            try:
                if rows.kind[row] != OTHER:
                    raise Unusable(CUT if at_end else NO_ARRAY_END)
                if end - begin > LARGEST:
                    raise Unusable(TOO_LARGE)
                values = self._other(block.text[begin:end].tobytes(), at_end)
            except Unusable as error:
                if not self.clock:
                    why = f"not a retis log: {error}"
                    raise BadInput(self.path, block.offset + begin, why) from error
                self.leave_out(block.offset + begin, str(error))
                continue
            if values is not None:
                others[row], rows.kind[row] = values, POINT
        chosen = np.flatnonzero(rows.kind[:count] == POINT)
        points = EventBlock(block.text, rows, chosen, others)
        first, last = (block.offset + column[chosen] for column in (rows.begin, rows.end))
        self._add_points(points, first, last)

    def _other(self, raw: bytes, at_end: bool) -> EventValues | None:
        """Return the values of an event that the scanner did not read; None if it is no point."""
        event = parse_event(raw, at_end)
        if self.clock:
            return values_of(event)
        self._start(event)
        return None

    def _start(self, event: Event) -> None:
        startup = section(event, "startup")
        if not startup:
            raise Unusable("it does not begin with a startup event (retis 1.5 or newer writes it)")
        text = startup.get("retis_version")
        version = re.match(r"v?(\d{1,9})\.(\d{1,9})", text if isinstance(text, str) else "")
        if version is None:
            raise Unusable("its startup event does not name retis's version")
        if (int(version[1]), int(version[2])) < OLDEST:
            raise Unusable(f"retis {version[0]} is older than 1.5")
        offset = section(startup, "clock_monotonic_offset")
        ahead = number(offset, "sec") * NS + number(offset, "nsec")
        now = number(section(event, "common"), "timestamp")
        if now + ahead > LATEST_NS:
            raise Unusable("its startup event has a time beyond the year 2262")
        self._startup = startup
        self._version = int(version[1]), int(version[2])
        self.clock.append(ClockTriple(now, now + ahead, -1, -1))

    def _add_points(self, points: EventBlock, offset: Int64s, end: Int64s) -> None:
        if not len(points):
            return
        packet = self._points.packets.of(points)
        ts = points.number("ts")
        is_time = ts <= LATEST_NS - max(self.clock[0].real_ns - self.clock[0].mono_ns, 0)
        for at in offset[~is_time].tolist():
            self.leave_out(at, NO_TIME)
        for at in offset[is_time & (packet == -2)].tolist():
            self.leave_out(at, NO_BASE64)
        columns: dict[str, npt.NDArray[np.integer]] = {
            name: points.number(name)
            for name in ("ts", "cpu", "pid", "ifindex", "netns", "skb_len", "gso_size", "gso_segs")
        }
        # `retis sort` adds the tracking of upcalls to points of programs.
        is_tracked = points.has("tracked")
        for name in ("skb", "tracked", "head"):
            later = points.number(f"later_{name}")
            columns[name] = np.where(is_tracked, points.number(name), later)
        columns["func"] = self._functions(points)
        columns["reason"] = self._drops(points)
        columns["sections"] = self._sections.of(points.hashes(""), points.sections_of)
        columns |= {"packet": packet, "begin": offset, "end": end}
        self._points.add(columns, is_time & (packet != -2))
        self._note_names(points)

    def _functions(self, points: EventBlock) -> Int64s:
        """Return the number of each point's probe."""
        kernel = pair_hashes(points.hashes("symbol"), points.hashes("type"))
        user = pair_hashes(points.hashes("user"), points.hashes("user_type"))

        def probe(point: int) -> int:
            names = ("symbol", "type") if kernel[point] else ("user", "user_type")
            symbol, type_ = (readable(points.text_of(name, point)) for name in names)
            return self._probes.setdefault((symbol, type_), len(self._probes))

        found = self._probe_of.of(np.where(kernel == 0, user, kernel), probe)
        return np.array(self._probe_of.values, np.int64)[found]

    def _drops(self, points: EventBlock) -> Int64s:
        """Return for each point the number of its drop reason; -1 if it is not a drop."""
        subsystem = points.hashes("subsystem")

        def number(point: int) -> int:
            prefix = f"{readable(points.text_of('subsystem', point))}/" if subsystem[point] else ""
            text = prefix + readable(points.text_of("reason", point))
            return self._reasons.setdefault(text, len(self._reasons) + 1)

        found = self._reason_of.of(pair_hashes(points.hashes("reason"), subsystem), number)
        return np.array([*self._reason_of.values, -1], np.int64)[found]

    def _note_names(self, points: EventBlock) -> None:
        """Update the names of threads and devices; the latest name counts."""
        pid, netns, ifindex = (points.number(name) for name in ("pid", "netns", "ifindex"))

        def task(point: int) -> tuple[int, str]:
            return int(pid[point]), readable(points.text_of("comm", point))

        def device(point: int) -> tuple[tuple[int, int], str]:
            place = int(netns[point]), int(ifindex[point])
            return place, readable(points.text_of("device", point))

        found = self._task_names.of(hashes_with_numbers(points.hashes("comm"), pid), task)
        for _, name in self._task_names.latest(found):
            self._tasks.update([self._task_names.values[name]])
        hashes = hashes_with_numbers(points.hashes("device"), netns, ifindex)
        found = self._device_names.of(hashes, device)
        for _, name in self._device_names.latest(found):
            self._devices.update([self._device_names.values[name]])

    def log(self, progress: Progress, folder: Path | None) -> KernelLog:
        """Return the whole log."""
        records, lifetimes, packets = self._points.finish(self.path, progress, folder)
        machine = self._startup.get("machine")
        machine = machine if isinstance(machine, dict) else {}
        meta = {"tracer": "retis {}.{}".format(*self._version), "clock": CLOCK}
        if isinstance(self._startup.get("cmdline"), str):
            meta["cmdline"] = readable(self._startup["cmdline"].encode("utf-8", "replace"))
        meta |= {f"drop_reason.{reason}": text for text, reason in self._reasons.items()}
        for (symbol, type_), probe in self._probes.items():
            meta[f"point.{probe}"] = f"{symbol} (return)" if type_ == RETURNS else symbol
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
            release=_text_of(machine, "kernel_release"),
            hostname="",
            arch=_text_of(machine, "hardware_name"),
            lost_records=0,
            meta=meta,
            warnings=self._warnings(len(records)),
            kind=SourceKind.RETIS,
            returns=False,
            lifetimes=lifetimes,
            sections=tuple(self._sections.values),
            own_packets=self._capture(packets),
        )

    def _capture(self, found: PacketsOfLifetimes) -> Capture | None:
        """Return the packets that the log shows, with times of the host's wall clock."""
        if not len(found.packets):
            return None
        columns = {name: found.packets.stored(name) for name in PACKET_DTYPE.names or ()}
        ahead = self.clock[0].real_ns - self.clock[0].mono_ns
        columns["ts"] = columns["ts"] + ahead
        packets = ColumnTable(PACKET_DTYPE, columns)
        kind = SourceKind.RETIS_PACKETS
        return Capture(self.path, kind, packets, (PACKETS_OF_LOG,), (), found.lifetime)

    def _warnings(self, points: int) -> tuple[str, ...]:
        made = [
            f"{self.path} at byte {self._first[why]}: {why}; {counted(count, 'event')} left out"
            for why, count in self._left.items()
        ]
        if self._version > NEWEST:
            major, minor = self._version
            text = f"retis {major}.{minor} is newer than the versions that skbviewer knows"
            made.append(f"{self.path}: {text}")
        if not points:
            made.append(f"{self.path}: the file has no points")
        return tuple(made)


def _text_of(values: Event, name: str) -> str:
    found = values.get(name)
    return readable(found.encode("utf-8", "replace")) if isinstance(found, str) else ""


def _as_probe(number: int, symbol: str, type_: str) -> Probe:
    hits = missed = -1  # unknown: retis does not count them
    return Probe(number, symbol, "", 0, 0, False, 0, 0, hits, missed)

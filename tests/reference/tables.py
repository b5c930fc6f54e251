# SPDX-License-Identifier: MIT
"""Compute `stats callgraph`, `programs`, `latency`, `io`, `roundtrip`, `time` and `paths`.

Input: what the reference made of a log; from the session, which packets a capture holds, which legs
are theirs, and the offsets of the clocks.  Output: cells of the tables, of all packets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from .calls import Nested
from .layout import EVENT
from .lost_drops import losing
from .packet_times import packet
from .passes import FORWARD, RX, TX, Pass
from .path_output import layer_of
from .rows import Cells
from .segments import Segments
from .spent import (
    BACKLOG,
    BUSY,
    INTERRUPTS,
    NO_TIME,
    OFF,
    OTHERS,
    QDISC,
    REASSEMBLY,
    SENDING,
)
from .statistics import Statistics, spread

NOBODY = "(no recorded function)"
OFF_PATH = ("memory", "tap", "socket", "other")
OTHER_WORK = ("other packets", "interrupts")
RULES = {
    "other-packets": OTHERS, "interrupts": INTERRUPTS, "switched-out": OFF, "send-queue": SENDING,
    "socket-lock": BACKLOG, "reassembly": REASSEMBLY, "queueing-discipline": QDISC,
}  # fmt: skip
WORTH_NS, WORTH = 50_000, 10  # a wait is worth a finding if it is this long, and a tenth of all
PATHS, LATENCIES = 500, 100  # most paths with a row of their own
WORDS = {TX: "send", FORWARD: "forward"}


class Wire(NamedTuple):
    """One packet of a capture: its time on the session's clock, and bytes on the wire."""

    number: int
    ts: int
    size: int


class Unit(NamedTuple):
    """A packet with a known time in kernel; -n is row K<n>."""

    number: int
    legs: list[Pass]
    spent: dict[str, int]


def ranks(values: Iterable[int], permilles: Sequence[int]) -> list[int]:
    """Return nearest ranks."""
    of = sorted(values)
    return [of[max(-(-len(of) * each // 1000), 1) - 1] for each in permilles]


def _between(first: Pass | None, last: Pass | None) -> int | None:
    """Return the time between the wires of two legs of one namespace."""
    if first is None or last is None or first.place("netns") != last.place("netns"):
        return None
    return last.wire_ns - first.wire_ns if last.wire_ns >= first.wire_ns else None


class Tables(Statistics):
    """The tables of all packets of a log that show an IP or ARP header."""

    def units(self, alone: dict[int, list[int]]) -> list[Unit]:
        """Return packets of captures, then rows K<n>, whose legs `alone` has by n."""
        legs: dict[int, list[int]] = {}
        for leg, packets in self._wires.items():
            for number in packets:
                legs.setdefault(number, []).append(leg)
        made = [self._unit(number, legs[number]) for number in sorted(legs)]
        made += [self._unit(-number, alone[number]) for number in sorted(alone)]
        return [unit for unit in made if unit is not None]

    def _unit(self, number: int, legs: list[int]) -> Unit | None:
        spent = [self._made.legs[leg] for leg in legs]
        if any(leg.gap for leg in spent):
            return None
        passes = [self._made.passes.legs[leg - 1] for leg in legs]
        return Unit(number, sorted(passes, key=lambda one: one.begin), packet(spent))

    def callgraph(self) -> list[Cells]:
        """Return `stats callgraph`."""
        arcs: dict[tuple[str, str], list[Nested]] = {}
        for row, nested in self._once:
            caller = NOBODY if row.parent is None else self._name(row.parent)
            arcs.setdefault((caller, self._name(row)), []).append(nested)
        made = []
        for name in {called for _, called in arcs}:
            of_name = (calls for (_, called), calls in arcs.items() if called == name)
            every = [call for calls in of_name for call in calls]
            made.append(self._line(name, "itself", name, every))
        for (caller, called), calls in arcs.items():
            made.append(self._line(called, "called by", caller, calls))
            if caller != NOBODY:
                made.append(self._line(caller, "calls", called, calls))
        return made

    @staticmethod
    def _line(function: str, role: str, other: str, calls: list[Nested]) -> Cells:
        cells: Cells = {"function": function, "role": role, "other": other, "count": len(calls)}
        cells["self_ns"] = sum(call.self_ns or 0 for call in calls)
        return cells | {"total_ns": sum(call.dur or 0 for call in calls)}

    def roundtrip(self, pairs: Iterable[tuple[int, int]]) -> list[Cells]:
        """Return `stats roundtrip`: parts of round trips of (acknowledging, acknowledged)."""
        return [self._trip(packet, acked) for packet, acked in pairs]

    def _trip(self, packet: int, acked: int) -> Cells:
        sent, arrived = self._end(acked, TX, 0), self._end(acked, RX, -1)
        answer, back = self._end(packet, TX, 0), self._end(packet, RX, -1)
        outside, peer = _between(sent, back), _between(arrived, answer)
        if outside is not None and peer is not None and peer > outside:
            peer = None
        wire = None if outside is None or peer is None else outside - peer
        cells: Cells = {"packet": packet, "acked": acked, "outside_ns": outside, "peer_ns": peer}
        cells["send_ns"] = None if sent is None else sent.wire_ns - sent.begin
        cells["receive_ns"] = None if back is None else back.end - back.wire_ns
        return cells | {"wire_ns": wire}

    def _end(self, packet: int, kind: int, at: int) -> Pass | None:
        """Return the leg of a kind that passed the wire first (at 0) or last (at -1)."""
        numbers = [leg for leg, packets in self._wires.items() if packet in packets]
        whole = (self._made.passes.legs[n - 1] for n in numbers if not self._made.legs[n].gap)
        legs = sorted((one for one in whole if one.kind == kind), key=lambda one: one.wire_ns)
        return legs[at] if legs else None

    def programs(self) -> list[Cells]:
        """Return `stats programs`, without the host."""
        own: dict[tuple[str, str], list[int]] = {}
        for row, nested in self._once:
            if self._is_thread(row):
                key = self._comm(row), self._name(row)
                own.setdefault(key, []).append(nested.self_ns or 0)
        return [
            {"process": process, "function": name, "layer": layer_of(name), "count": len(values)}
            | spread(values)
            for (process, name), values in own.items()
        ]

    def latency(self, units: list[Unit]) -> list[Cells]:
        """Return `stats latency`."""
        of: dict[tuple[str, str], list[int]] = {}
        for unit, path in zip(units, self._paths(units), strict=True):
            of.setdefault(("all packets", "all packets"), []).append(unit.spent["kernel"])
            if path <= LATENCIES:
                of.setdefault(("path", str(path)), []).append(unit.spent["kernel"])
        for leg in self._legs:
            if not self._made.legs[leg.number].gap and not leg.series.life.is_tap:
                for name, ns in self._stages_of(leg):
                    of.setdefault(("stage", name), []).append(ns)
        for row, nested in self._once:
            if nested.dur is not None:
                of.setdefault(("function", self._name(row)), []).append(nested.dur)
        return [self._distribution(*key, values) for key, values in of.items()]

    @staticmethod
    def _distribution(kind: str, name: str, values: list[int]) -> Cells:
        cells: Cells = {"kind": kind, "name": name, "count": len(values)}
        cells["mean_ns"] = round(sum(values) / len(values))
        names = ("min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
        return cells | dict(zip(names, ranks(values, (0, 500, 900, 990, 999, 1000)), strict=True))

    def _paths(self, units: list[Unit]) -> list[int]:
        """Return the number of each packet's path."""
        paths = [self._path(unit) for unit in units]
        count = Counter(paths)
        order = sorted(count, key=lambda path: (-count[path], paths.index(path)))
        return [order.index(path) + 1 for path in paths]

    def _path(self, unit: Unit) -> tuple[object, ...]:
        made: list[object] = []
        for leg in unit.legs:
            names = [self._name(row) for row in leg.rows if leg.begin <= row.call.entry < leg.end]
            kept = (name for name in names if layer_of(name) not in OFF_PATH)
            made.append((leg.kind, leg.drop_reason >= 0, tuple(dict.fromkeys(kept))))
        return tuple(made)

    def paths(
        self, units: list[Unit], reason: Callable[[int], str], segments: Segments
    ) -> list[Cells]:
        """Return `stats paths`, without its largest part; see Statistics.drops()."""
        losses = losing(self._made, reason, segments)
        lost = {leg for record, leg, _ in self._made.passes.events if record.number in losses}
        of: dict[int, list[Unit]] = {}
        for unit, path in zip(units, self._paths(units), strict=True):
            of.setdefault(path if path <= PATHS else 0, []).append(unit)
        made = []
        for path, mine in of.items():
            mine.sort(key=lambda unit: unit.spent["kernel"])
            median = mine[(len(mine) - 1) // 2].number
            cells: Cells = {"path": path, "count": len(mine)}
            words = []
            for at, leg in enumerate(mine[0].legs):
                was_lost = any(unit.legs[at].number in lost for unit in mine)
                end = (", dropped" if was_lost else ", freed") * (leg.drop_reason >= 0)
                words.append(WORDS.get(leg.kind, "receive") + end)
            cells["legs"] = " + ".join(words)
            cells["median"] = str(median) if median > 0 else f"K{-median}"
            made.append(cells | spread(unit.spent["kernel"] for unit in mine))
        return made

    def time(self, units: list[Unit]) -> list[Cells]:
        """Return `stats time`: waits and other work; busy is the sum of rows busy and probes."""
        made = []
        for name in sorted({name for unit in units for name, ns in unit.spent.items() if ns}):
            if name in ("cpu", "kernel"):
                continue
            kind = "busy" if name == BUSY else "wait"
            kind = "other work" if name in OTHER_WORK else "unknown" if name in NO_TIME else kind
            total = sum(unit.spent[name] for unit in units)
            packets = sum(unit.spent[name] > 0 for unit in units)
            made.append({"kind": kind, "part": name, "total_ns": total, "packets": packets})
        return made

    def expert(self, units: list[Unit]) -> list[Cells]:
        """Return those rows of `stats expert` that are about one kind of waiting."""
        made = []
        for rule, kind in RULES.items():
            waits = [
                unit.spent[kind]
                for unit in units
                if unit.spent[kind] >= max(WORTH_NS, unit.spent["kernel"] / WORTH)
            ]
            if waits:
                made.append({"rule": rule, "packets": len(waits), "cost_ns": sum(waits)})
        return made

    def io(self, wires: list[Wire], units: list[Unit], offset: int, interval: int) -> list[Cells]:
        """Return `stats io`; `offset` is the session's clock less the log's."""
        kernel = {unit.number: unit.spent["kernel"] for unit in units}
        mine = {leg.number for leg in self._legs}
        drops = [
            record.of.ts + offset  # type: ignore[union-attr]
            for record, leg, _ in self._made.passes.events
            if record.event == EVENT.DROP and leg in mine
        ]
        if not wires and not drops:
            return []
        begins = [leg.begin + offset for leg in self._made.passes.legs]
        origin = wires[0].ts if wires else min(begins)
        of: dict[int, list[Wire]] = {}
        for wire in wires:
            of.setdefault((wire.ts - origin) // interval, []).append(wire)
        dropped = Counter((ts - origin) // interval for ts in drops)
        made = []
        for at in range(min([*of, *dropped]), max([*of, *dropped]) + 1):
            found = of.get(at, [])
            known = [kernel[wire.number] for wire in found if wire.number in kernel]
            times = ranks(known, (500, 900, 990, 1000)) if known else [None] * 4
            cells: Cells = {"after_ns": at * interval, "packets": len(found), "drops": dropped[at]}
            cells["bits"] = sum(8 * wire.size for wire in found)
            names = ("p50_ns", "p90_ns", "p99_ns", "max_ns")
            made.append(cells | dict(zip(names, times, strict=True)))
        return made

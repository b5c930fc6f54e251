# SPDX-License-Identifier: MIT
"""Compute what `info` and `stats` should print, from the reference's results for a log.

Input: legs and calls; from the session, which packets a capture holds and which legs are theirs.
Output: cells, and rows of the tables functions, layers, drops and processes of all packets.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from .calls import MISSED, Nested
from .compare import Made
from .layout import EVENT, RETURNS_SKB, SOCK
from .lifetimes import SENDS
from .lost_drops import losing, place_of
from .passes import FORWARD, RX, TX, Pass, Row
from .path_output import LAYERS, layer_of, word
from .rows import GAP, INTERRUPTED, SLEPT, CallCells, Cells
from .segments import Segments
from .slots import Event
from .spent import BUSY, NO_TIME, RANK

ETH_P_ARP = 0x0806
STACK = {
    "netif_receive_skb", "netif_receive_skb_core", "netif_receive_skb_list_internal",
    "__netif_receive_skb", "__netif_receive_skb_core", "__netif_receive_skb_core.constprop.0",
    "__netif_receive_skb_list_core", "__netif_receive_skb_one_core",
}  # fmt: skip
QDISC = {"dev_queue_xmit", "__dev_queue_xmit", "dev_queue_xmit_accel"}
SHOWN = 5  # packets of a row of drops
Stack = tuple[str, ...]


def spread(values: Iterable[int]) -> dict[str, int]:
    """Sum, mean and percentiles (nearest rank)."""
    of = sorted(values)
    if not of:
        return dict.fromkeys(("total_ns", "mean_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"), 0)
    made = {"total_ns": sum(of), "mean_ns": round(sum(of) / len(of))}
    for percent in (50, 95, 99):
        made[f"p{percent}_ns"] = of[-(-len(of) * percent // 100) - 1]
    return made | {"max_ns": of[-1]}


class Statistics:
    """Statistics of all packets of a log, or of those with an IP or ARP header."""

    def __init__(self, made: Made, wires: dict[int, list[int]], everything: bool = False) -> None:
        """`wires` are by leg the packets of captures that it surely is."""
        self._made, self._log, self._wires = made, made.calls.log, wires
        self._cells = CallCells(made.calls)
        self._legs = [leg for leg in made.passes.legs if everything or _has_identity(leg)]
        self._rows = [row for leg in self._legs for row in leg.rows]
        self._once: list[tuple[Row, Nested]] = []  # each call for its first packet
        seen: set[int] = set()
        for row in sorted(self._rows, key=lambda one: (one.record.carried >= 0, one.number)):
            if isinstance(row.record.of, Nested) and id(row.record.of) not in seen:
                seen.add(id(row.record.of))
                self._once.append((row, row.record.of))

    def _name(self, row: Row) -> str:
        return self._log.functions[row.call.func]

    def functions(self) -> list[Cells]:
        """Return `stats functions`."""
        of: dict[str, list[tuple[Row, Cells]]] = {}
        for row, nested in self._once:
            of.setdefault(self._name(row), []).append((row, self._cells.of(row, nested)))
        made = []
        for name, calls in of.items():
            durations = [cells["dur_ns"] for _, cells in calls if cells["dur_ns"] >= 0]
            measured = [cells for _, cells in calls if cells["comp_ns"] >= 0]
            cells: Cells = {"function": name, "layer": layer_of(name), "count": len(calls)}
            cells["open"] = len(calls) - len(durations)
            cells |= spread(durations)
            cells["self_ns"] = sum(one["self_ns"] for _, one in calls if one["self_ns"] >= 0)
            for key in ("comp_ns", "comp_err_ns"):
                mean = sum(one[key] for one in measured) / max(len(measured), 1)
                called = key if key == "comp_err_ns" else "comp_mean_ns"
                cells[called] = round(mean) if measured else None
            for key, bit in (("switched_out", SLEPT), ("interrupted", INTERRUPTED), ("gaps", GAP)):
                cells[key] = sum(one["marks"] & bit != 0 for _, one in calls)
            made.append(cells)
        return made

    def stacks(self) -> dict[Stack, int]:
        """Return self times by the functions from the outermost to the innermost."""
        return stacks(self._once, self._log.functions)

    def layers(self) -> list[Cells]:
        """Return `stats layers`."""
        usable = [leg for leg in self._legs if not self._made.legs[leg.number].gap]
        return [*self._busy(usable), *self._waits(usable), *self._stages(usable)]

    def _busy(self, usable: list[Pass]) -> list[Cells]:
        mine = {leg.number for leg in usable}
        spent: dict[str, Counter[int]] = {}
        calls = Counter[str]()
        for row, nested in self._once:
            own = self._own(row, nested)
            if row.leg.number in mine and own is not None:
                layer = layer_of(self._name(row))
                spent.setdefault(layer, Counter())[row.leg.number] += own
                calls[layer] += 1
        named = json.loads(LAYERS.read_text(encoding="utf-8"))["layers"]
        order = [layer["name"] for layer in reversed(named)]
        return [
            {"kind": BUSY, "layer": layer, "calls": calls[layer], "count": len(spent[layer])}
            | spread(spent[layer].values())
            for layer in order
            if layer in spent
        ]

    def _own(self, row: Row, nested: Nested) -> int | None:
        """Return the self time since the packet was there for it."""
        own, since = nested.self_ns, self._since(row)
        if own is None or row.call.entry >= since:
            return own
        left = self._behind(row) - sum(
            self._behind(inner) for inner in row.leg.rows if inner.parent is row
        )
        return min(own, max(left, 0))

    @staticmethod
    def _since(row: Row) -> int:
        leg, call = row.leg, row.call
        joined = bool(row.record.flags & SOCK) and not row.skb
        finds = joined or bool(row.record.flags & RETURNS_SKB)
        end = call.entry if call.end is None else call.end
        read = leg.kind == RX and finds and call.context == 0 and end >= leg.reader_ns >= 0
        return max(leg.begin, leg.reader_ns) if read else leg.begin

    def _behind(self, row: Row) -> int:
        end = row.call.entry if row.call.end is None else row.call.end
        return max(end - max(row.call.entry, self._since(row)), 0)

    def _waits(self, usable: list[Pass]) -> list[Cells]:
        made = []
        for name in RANK[1:]:
            inside, later = Counter[int](), Counter[int]()
            for leg in usable:
                for what, begin, end in self._made.legs[leg.number].waits:
                    if what == name and begin < leg.end:
                        inside[leg.number] += min(end, leg.end) - begin
                    if what == name and end > leg.end:
                        later[leg.number] += end - max(begin, leg.end)
            kind = "unknown" if name in NO_TIME else "wait"
            for row, spent in ((kind, inside), ("later wait", later)):
                if spent:
                    cells: Cells = {"kind": row, "layer": name, "calls": 0}
                    made.append(cells | {"count": len(spent)} | spread(spent.values()))
        return made

    def _stages(self, usable: list[Pass]) -> list[Cells]:
        spent: dict[tuple[str, str], list[int]] = {}
        for leg in usable:
            if not leg.series.life.is_tap:
                for name, ns in self._stages_of(leg):
                    spent.setdefault(("stage", name), []).append(ns)
            wire = self._wire(leg)
            if wire is not None:
                spent.setdefault(("stage", "wire"), []).append(wire)
        return [
            {"kind": kind, "layer": name, "calls": 0, "count": len(values)} | spread(values)
            for (kind, name), values in spent.items()
        ]

    def _stages_of(self, leg: Pass) -> list[tuple[str, int]]:
        begins: list[tuple[str, int | None]]
        if leg.kind == TX:
            begins = [
                ("send: system call", leg.begin),
                ("send: transport", self._first(leg, "transport")),
                ("send: IP", self._first(leg, "ip")),
                ("send: queueing discipline", self._first(leg, QDISC)),
                ("send: driver", self._first(leg, SENDS)),
            ]
        elif leg.kind == FORWARD:
            begins = [
                ("forward: driver in", leg.begin),
                ("forward: protocol stack", self._first(leg, STACK)),
                ("forward: queueing discipline", self._first(leg, QDISC)),
                ("forward: driver out", self._first(leg, SENDS)),
            ]
        else:
            begins = [
                ("receive: driver", leg.begin),
                ("receive: protocol stack", self._first(leg, STACK)),
            ]
        made, following = [], leg.end
        for name, begin in reversed(begins):
            if begin is not None and begin <= following:
                made.append((name, following - begin))
                following = begin
        if leg.kind == RX and leg.reader_ns >= 0:
            ends = (row.call.end or row.call.entry for row in leg.rows)
            made.append(("receive: receiving process", max(max(ends) - leg.reader_ns, 0)))
        return made

    def _first(self, leg: Pass, of: set[str] | str) -> int | None:
        """Return when some function, or one of a layer, was entered first since the leg began."""
        found = [
            row.call.entry
            for row in leg.rows
            if row.call.entry >= leg.begin
            and (self._name(row) in of if isinstance(of, set) else layer_of(self._name(row)) == of)
        ]
        return min(found, default=None)

    def _wire(self, leg: Pass) -> int | None:
        """Return the time since the previous leg, which sent its packet."""
        found = None
        for packet in sorted(self._wires.get(leg.number, [])):
            legs = [self._made.passes.legs[n - 1] for n, of in self._wires.items() if packet in of]
            legs.sort(key=lambda one: one.wire_ns)
            at = legs.index(leg)
            if at and legs[at - 1].kind != RX and leg.kind != TX:
                known = not self._made.legs[legs[at - 1].number].gap
                known = known and not self._lost(legs[at - 1].wire_ns, leg.wire_ns)
                found = leg.wire_ns - legs[at - 1].wire_ns if known else None
        return found

    def _lost(self, begin: int, end: int) -> bool:
        """Return whether records were lost between two times, so that the packet may have left."""
        lost = (loss for loss in self._log.losses if loss.reason != MISSED)
        return any(loss.begin <= end and loss.end >= begin for loss in lost)

    def drops(self, reason: Any, segments: Segments) -> list[Cells]:
        """Return `stats drops`; `reason` names a number, `segments` are TCP's."""
        mine, found = {leg.number for leg in self._legs}, dict[tuple[str, str], list[int]]()
        losses, lost = losing(self._made, reason, segments), Counter[tuple[str, str]]()
        for record, leg, _ in self._made.passes.events:
            if record.event != EVENT.DROP or leg not in mine or not isinstance(record.of, Event):
                continue
            key = reason(record.data & 0xFFFFFFFF), place_of(self._made, record)
            lost[key] += record.number in losses
            found.setdefault(key, []).append(min(self._wires.get(leg, [0])))
        made = []
        for (why, place), packets in found.items():
            seen = sorted({packet for packet in packets if packet})
            layer = layer_of(place.split("+")[0]) if place else ""
            cells: Cells = {"reason": why, "function": place, "layer": layer}
            cells |= {"count": len(packets), "wire": len(seen), "packets": seen[:SHOWN]}
            cells["lost"] = lost[why, place]
            made.append(cells)
        return made

    def processes(self) -> list[Cells]:
        """Return `stats processes`, without the host."""
        legs: dict[str, set[int]] = {}
        for row in self._rows:
            if self._is_thread(row):
                legs.setdefault(self._comm(row), set()).add(row.leg.number)
        own: dict[str, list[int]] = {name: [] for name in legs}
        for row, nested in self._once:
            if self._is_thread(row):
                own[self._comm(row)].append(nested.self_ns or 0)
        return [
            {"process": name, "legs": len(legs[name]), "count": len(own[name])} | spread(own[name])
            for name in legs
        ]

    def _is_thread(self, row: Row) -> bool:
        nested = row.record.of
        assert isinstance(nested, Nested)
        lost = self._made.legs[row.leg.number].gap or nested.self_ns is None
        return row.call.context == 0 and row.call.pid > 0 and not lost

    def _comm(self, row: Row) -> str:
        return self._log.threads.get(row.call.pid, f"thread {row.call.pid}")


def stacks(calls: Iterable[tuple[Row, Nested]], functions: dict[int, str]) -> dict[Stack, int]:
    """Return ns by stack of functions; a call without a self time adds nothing."""
    spent = Counter[Stack]()
    for row, nested in calls:
        around: list[str] = []
        at: Row | None = row
        while at is not None:
            around.append(functions.get(at.call.func, f"probe {at.call.func}"))
            at = at.parent
        if nested.self_ns:
            spent[tuple(reversed(around))] += nested.self_ns
    return dict(spent)


def _has_identity(leg: Pass) -> bool:
    footprints = (record.footprint for record in leg.series.records)
    return any(one.has_ip or one.ethertype == ETH_P_ARP for one in footprints)


def info(made: Made) -> Cells:
    """Return what `info --json` should count."""
    log = made.calls.log
    events = Counter(record.event for record, _, _ in made.passes.events)
    names = ("written", "bytes", "lost", "missed", "nested", "null_skb", "filtered", "open")
    return {
        "records": log.slots,
        "series": len({leg.series.number for leg in made.passes.legs}),
        "calls": len(made.passes.rows),
        "events": {word(event): count for event, count in sorted(events.items())},
        "recorder": {name: log.counters[name] for name in (*names, "unpaired")},
    }

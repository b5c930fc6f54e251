# SPDX-License-Identifier: MIT
"""Compute the rows of a session's tables: series, leg, call, event, loss.

Input: the results of the other modules for a log's records.  Output: for each row the cells, by
column.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from .calls import Calls, Costs, Nested
from .layout import EVENT
from .passes import Pass, Passes, Row, signed
from .slots import Call
from .spent import Leg

UNKNOWN = -1
SLEPT, MIGRATED, INTERRUPTED, GAP = 1, 2, 4, 8  # column `marks`

Cells = dict[str, Any]


def or_unknown(value: int | None) -> int:
    """Return a value in the form of the tables."""
    return UNKNOWN if value is None else value


class CallCells:
    """The cells of table `call`."""

    def __init__(self, calls: Calls) -> None:
        self._costs = Costs(calls) if calls.log.calibration else None
        self._on_cpu: dict[int, list[tuple[int, int]]] = {}  # (return, thread) by CPU
        self._of_thread: dict[int, list[tuple[int, int]]] = {}  # (return, CPU) by thread
        for nested in calls.all:
            call = nested.call
            if call.end is not None and (call.context == 0 or call.pid >= 0):
                self._on_cpu.setdefault(call.end_cpu, []).append((call.end, call.pid))
                self._of_thread.setdefault(call.pid, []).append((call.end, call.end_cpu))
        for seen in (*self._on_cpu.values(), *self._of_thread.values()):
            seen.sort()

    def of(self, row: Row, nested: Nested) -> Cells:
        """Return the cells of a row."""
        call, footprint = row.call, row.record.footprint
        made = {
            "leg": row.leg.number,
            "ordinal": row.record.ordinal,
            "func": call.func,
            "caller": signed(call.caller),
            "entry_ns": call.entry,
            "exit_ns": or_unknown(call.end),
            "dur_ns": or_unknown(nested.dur),
            "self_ns": or_unknown(nested.self_ns),
            "irq_ns": nested.irq_ns,
            "off_ns": nested.off_ns,
            "marks": self._marks(nested),
            "depth": row.depth,
            "parent": row.parent.number if row.parent else UNKNOWN,
            "cpu": call.cpu,
            "context": call.context,
            "flags": row.record.flags,
            "pid": call.pid,
            "skb": signed(row.skb),
            "netns": footprint.netns,
            "ifindex": footprint.ifindex,
            "sk": signed(footprint.sk),
            "mark": footprint.mark,
            "carried": row.record.carried,
            "drop_reason": row.drop_reason,
            "counter": or_unknown(call.counter),
            "comp_ns": UNKNOWN,
            "comp_err_ns": UNKNOWN,
        }
        if self._costs is not None:
            own = row.record.skb != 0  # a list's further packet is a packet, too
            made["comp_ns"] = or_unknown(self._costs.of(nested, own))
            made["comp_err_ns"] = or_unknown(self._costs.error(nested, own))
        return made

    def _marks(self, nested: Nested) -> int:
        call = nested.call
        made = INTERRUPTED * (nested.irq_ns > 0) | GAP * nested.gap
        if call.context != 0 or call.pid <= 0 or call.end is None:
            return made
        moved = call.cpu != call.end_cpu
        elsewhere = (cpu for cpu in self._meanwhile(self._of_thread[call.pid], call))
        others = (pid for pid in self._meanwhile(self._on_cpu[call.end_cpu], call))
        if moved or any(cpu != call.end_cpu for cpu in elsewhere):
            made |= MIGRATED
        if not moved and any(pid != call.pid for pid in others):
            made |= SLEPT
        return made

    @staticmethod
    def _meanwhile(seen: list[tuple[int, int]], call: Call) -> list[int]:
        """Return the values in `seen` between the call's entry and its return, without both."""
        assert call.end is not None
        low = bisect_right(seen, call.entry, key=lambda one: one[0])
        return [what for _, what in seen[low : bisect_left(seen, call.end, key=lambda one: one[0])]]


def leg_cells(of: Pass, spent: Leg) -> Cells:
    """Return the cells of table `leg`."""
    return {
        "series": of.series.number + 1,
        "kind": of.kind,
        "begin_ns": of.begin,
        "end_ns": of.end,
        "wire_ns": of.wire_ns,
        "netns": max(of.place("netns"), 0),
        "ifindex": max(of.place("ifindex"), 0),
        "functions": len(of.rows),
        "ethertype": of.ethertype,
        "reader_ns": of.reader_ns,
        "pid": of.pid,
        "drop_reason": of.drop_reason,
        "busy_ns": spent.busy_ns,
        "unknown_ns": spent.unknown_ns,
        "cpu_ns": spent.cpu_ns,
    }


def event_cells(passes: Passes) -> list[Cells]:
    """Return the cells of table `event`, row by row."""
    made = []
    for record, leg, row in passes.events:
        event = record.of
        assert not isinstance(event, Nested)
        cells = {name: getattr(event, name) for name in ("event", "ts", "cpu", "context", "pid")}
        cells |= {"skb": signed(event.skb), "data": signed(event.data), "ordinal": event.ordinal}
        made.append(cells | {"leg": leg, "call": row.number if row else UNKNOWN})
    return made


def series_cells(passes: list[Pass]) -> Cells:
    """Return the cells of table `series`, of the legs of one packet."""
    series = passes[0].series
    skbs = [record.skb for record in series.records if record.skb]
    ends = (max(record.leaves, record.ts) for record in series.records)
    return {
        "parent": series.parent.number + 1 if series.parent else UNKNOWN,
        "tap": int(series.life.is_tap),
        "begin_ns": passes[0].begin,
        "end_ns": max(ends),
        "skb": signed(skbs[0]) if skbs else 0,
    }


def merge_cells(passes: Passes) -> list[tuple[int, int]]:
    """Return which packets went on in which others', as table `merge` has it."""
    last: dict[int, int] = {}
    made = set()
    for record in passes.records:
        if record.event in (EVENT.GRO_MERGE, EVENT.COALESCE, EVENT.MORPH):
            other = last.get(record.data)
            own = record.series.number if record.series else None
            gone, into = (other, own) if record.event == EVENT.MORPH else (own, other)
            if gone is not None and into is not None and gone != into:
                made.add((gone + 1, into + 1))
        if record.skb and record.series:
            last[record.skb] = record.series.number
            if record.event == EVENT.FREE:
                del last[record.skb]
    return sorted(made)

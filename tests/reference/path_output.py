# SPDX-License-Identifier: MIT
"""Compute what `path --json` and the path as CSV should contain for a packet's legs.

Input: what the reference made of a log.  Output: the cells of each leg, call, wait and event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from .calls import Nested
from .compare import Cell, Made
from .layout import EVENT, OPEN, SOCK
from .passes import Pass, Row
from .rows import GAP, INTERRUPTED, MIGRATED, SLEPT, CallCells, Cells
from .slots import Event

LAYERS = Path(__file__).parents[2] / "resources/layers.json"
KINDS = ("tx", "rx", "forward")
CONTEXTS = ("task", "softirq", "hardirq", "nmi")
TAIL_CALL = 1
MARKS = (
    (SLEPT, "switched out"),
    (MIGRATED, "moved to another CPU"),
    (INTERRUPTED, "interrupted"),
    (GAP, "records were lost meanwhile"),
)


@cache
def layer_of(function: str) -> str:
    """Return the first pattern that fits."""
    table = json.loads(LAYERS.read_text(encoding="utf-8"))["functions"]
    return next((layer for pattern, layer in table if fnmatchcase(function, pattern)), "other")


def word(event: int) -> str:
    """Return the word for an event in kbl.h."""
    return str(EVENT(event).name).lower()


class PathCells:
    """The cells of paths."""

    def __init__(self, made: Made) -> None:
        self._made, self._log = made, made.calls.log
        self._cells = CallCells(made.calls)
        self._leg = {(one.series.number + 1, one.begin): one for one in made.passes.legs}
        self._events: dict[int, list[tuple[Event, Row | None]]] = {}
        for record, leg, row in made.passes.events:
            if leg > 0 and isinstance(record.of, Event):
                self._events.setdefault(leg, []).append((record.of, row))

    def leg_at(self, series: int, begin_ns: int) -> int:
        """Return the number of a leg."""
        return self._leg[series, begin_ns].number

    def compare(self, shown: dict[str, Any]) -> Iterator[Cell]:
        """Compare a leg of the JSON output, cell by cell."""
        of = self._leg[shown["series"], shown["begin_ns"]]
        where = f"leg {of.number}"
        yield from _cells(where, shown, self.of_leg(of))
        yield f"calls of {where}", len(shown["calls"]), len(of.rows)
        for row, call in zip(of.rows, shown["calls"], strict=False):
            yield from _cells(f"call {row.number} of {where}", call, self.of_call(row))
        events = self.events_of(of)
        yield f"events of {where}", len(shown["events"]), len(events)
        for (event, inside), one in zip(events, shown["events"], strict=False):
            should = self.of_event(event, inside, of)
            yield from _cells(f"event at {event.ts} of {where}", one, should)

    def events_of(self, of: Pass) -> list[tuple[Event, Row | None]]:
        """Return the events of a leg, and the call that each happened in."""
        return self._events.get(of.number, [])

    def of_leg(self, of: Pass) -> Cells:
        """Return the cells of a leg, without those of its calls and events."""
        leg = self._made.legs[of.number]
        made: Cells = {
            "kind": KINDS[of.kind],
            "end_ns": of.end,
            "netns": max(of.place("netns"), 0),
            "device": self._log.device(of.place("netns"), of.place("ifindex")),
            "functions": None if leg.gap else len(of.rows),
            "waits": [
                {"what": name, "begin_ns": begin, "dur_ns": end - begin}
                for name, begin, end in leg.waits
            ],
        }
        times = {
            "kernel_ns": leg.kernel_ns,
            "busy_ns": leg.busy_ns,
            "wait_ns": leg.kernel_ns - leg.busy_ns - leg.unknown_ns,
            "unknown_ns": leg.unknown_ns,
            "cpu_ns": leg.cpu_ns,
        }
        return made | (dict.fromkeys(times) if leg.gap else times)

    def of_call(self, row: Row) -> Cells:
        """Return the cells of a call."""
        nested, base = row.record.of, row.leg.rows[0].number
        assert isinstance(nested, Nested)
        cells, call, footprint = self._cells.of(row, nested), row.call, row.record.footprint
        names: tuple[str, ...] = (
            "entry_ns",
            "exit_ns",
            "dur_ns",
            "self_ns",
            "comp_ns",
            "comp_err_ns",
            "irq_ns",
        )
        names += ("off_ns", "counter", "cpu", "pid", "depth")
        kept = ("irq_ns", "off_ns", "cpu", "pid", "depth", "entry_ns")
        made = {
            name: None if cells[name] < 0 and name not in kept else cells[name] for name in names
        }
        function = self._log.functions.get(call.func, f"probe {call.func}")
        return made | {
            "function": function,
            "caller": self._log.symbol(call.caller),
            "layer": layer_of(function),
            "parent": row.parent.number - base if row.parent else -1,
            "context": CONTEXTS[call.context],
            "comm": self._log.comm(call.pid, call.cpu),
            "skb": row.skb,
            "device": self._log.device(footprint.netns, footprint.ifindex),
            "tail_call": bool(call.flags & TAIL_CALL),
            "sock": footprint.sk if footprint.sk > 0 else 0,
            "mark": max(footprint.mark, 0),
            "note": self._note(row, cells["marks"]),
        }

    def _note(self, row: Row, marks: int) -> str:
        made, carried = [], row.record.carried
        if row.drop_reason >= 0:
            made.append(f"drop: {self.drop_reason(row.drop_reason)}")
        if row.call.end is None:
            opened = row.record.flags & OPEN
            made.append("open when recording stopped" if opened else "no exit recorded")
        if carried >= 0:
            made.append(f"packet {(carried & 0xFFFFFFFF) + 1} of the call")
        if carried >> 32 > 0:
            made.append(f"{carried >> 32} more packets are not shown")
        made += [text for bit, text in MARKS if marks & bit]
        if row.record.flags & SOCK and not row.skb:
            made.append("found via socket")
        return ", ".join(made)

    def drop_reason(self, number: int) -> str:
        """Return what the kernel calls it."""
        return self._log.meta.get(f"drop_reason.{number}", f"reason {number}")

    def of_event(self, event: Event, inside: Row | None, of: Pass) -> Cells:
        """Return the cells of an event of a leg."""
        return {
            "ts_ns": event.ts,
            "event": word(event.event),
            "call": inside.number - of.rows[0].number if inside else -1,
            "cpu": event.cpu,
            "context": CONTEXTS[event.context],
            "pid": event.pid,
            "comm": self._log.comm(event.pid, event.cpu),
        }


def _cells(what: str, shown: dict[str, Any], should: Cells) -> Iterator[Cell]:
    for key, value in should.items():
        yield f"{key} of {what}", shown[key], value

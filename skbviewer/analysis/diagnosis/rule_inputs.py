# SPDX-License-Identifier: MIT
"""The data that rules use: times of the chosen packets, their waits, calls and events.

Input: a Scope and a Breakdown.  Arrays have an element for each of `rows`, the chosen packets,
unless stated otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...records.kbl_layout import KblEvent
from ...records.types import Bools, Int64s
from ...store.whole_columns import Array
from ..breakdown.path_classes import SMALL_CLASS
from ..breakdown.time_part_groups import PartGroups, grouped
from ..breakdown.time_parts import BUSY, WITHOUT_PROBE, Breakdown, Parts
from ..packet_legs import legs_of_rows
from ..row_number_sets import distinct, flags_of
from ..scope import Scope
from ..stats.time_in_kernel_table import TimeTable, time_of
from .chosen_legs import ChosenLegs

SHARE = 10  # a part is worth a finding if it is at least 1/SHARE of the packet's time in kernel
LEAST_NS = 10_000  # and at least this long
WAIT_NS = 50_000  # a wait must be at least as long as the kernel's timer slack
EXAMPLES = 5  # packets that a finding lists


class Spans(NamedTuple):
    """Waits of chosen packets: the 0-based leg, begin and end (ns) on the clock of the leg's log.

    `row` is the packet that waited, as an index of `rows`.
    """

    leg: Int64s
    begin: Int64s
    end: Int64s
    row: Int64s

    @property
    def ns(self) -> Int64s:
        """Return the length of each wait, ns."""
        return np.asarray(self.end - self.begin, np.int64)

    def selected(self, which: Bools | Int64s) -> Spans:
        """Return the waits that `which` (flags or indices) selects."""
        return Spans(*(column[which] for column in self))


class Case:
    """The chosen packets of a session, and what was recorded about them."""

    def __init__(
        self,
        scope: Scope,
        made: Breakdown,
        rows: Int64s,
        listed: Int64s | None = None,
        functions: Bools | None = None,
    ) -> None:
        """Describe the packets `rows`, which are indices of `made.units`.

        `listed` are the packets that the user listed by number (-n for row K<n>); None if the user
        listed none.  `rows` contains no packet whose time in kernel is unknown.  `functions` marks
        the functions for which the time of each packet is needed; None means all functions.  The
        times of each packet in each function take much memory if there are millions of packets.
        """
        self.scope, self.made, self.rows = scope, made, rows
        self.listed = None if listed is None else distinct(listed)
        self._needed = np.ones(made.per_stage, np.bool_)
        if functions is not None:
            self._needed[: len(functions)] = functions
        self._made: dict[str, Any] = {}

    def cached(self, name: str, make: Callable[[Case], Any]) -> Any:
        """Return make(case), which is computed only once for each `name` and then kept."""
        if name not in self._made:
            self._made[name] = make(self)
        return self._made[name]

    def among(self, rows: Int64s) -> Case:
        """Return the case of some of the chosen packets; `rows` are indices of `self.rows`."""
        chosen = self.rows[rows]
        return Case(self.scope, self.made, chosen, self.made.units.id[chosen].astype(np.int64))

    @cached_property
    def everything(self) -> Case:
        """Return the case of all packets of the session."""
        return Case(self.scope.unlimited, self.made, np.arange(len(self.made.units.id)))

    @cached_property
    def packets(self) -> Int64s:
        """Return the numbers of the chosen captured packets, ascending, however they match."""
        if self.listed is None:
            return self.scope.packets
        return self.listed[self.listed > 0]

    @cached_property
    def may_lack_records(self) -> bool:
        """Return whether records of chosen packets may have been lost.

        A packet may have lost all its records.  So the records of chosen packets are known to be
        complete only if the user listed the packets.
        """
        complete = self.listed is not None and len(self.rows) == len(self.listed)
        return not complete and self.scope.has_losses

    def is_chosen(self, leg: Int64s, ts: Int64s) -> Bools:
        """Return for each leg and time whether the leg's packet is chosen at that time.

        Legs are 0-based; `ts` is the time (ns) on the clock of the leg's log.
        """
        if self.listed is not None:
            return self._listed_legs[leg]
        return self.scope.happened(leg, ts)

    @cached_property
    def _listed_legs(self) -> Bools:
        """Return for each leg whether the user listed its packet, which may have no times."""
        columns = self.scope.columns
        assert self.listed is not None
        return flags_of(legs_of_rows(columns, self.listed), columns.length("leg"))

    @cached_property
    def has_headerless_drops(self) -> bool:
        """Return whether chosen packets may be among the drops of unknown packets.

        In a log that has no packet headers at all, all drops are drops of unknown packets.  In
        other logs, an skb without headers is not a network packet: it may be from netlink, for
        example.
        """
        if self.listed is not None or self.scope.has_everything:
            return False
        columns = self.scope.columns
        known = columns.array("series", "identity") >= 0
        logs = np.unique(columns.array("series", "source")[known])
        drops = np.flatnonzero(self.event("event") == int(KblEvent.DROP))
        source, ts = (self.scope.of_event(name, drops) for name in ("source", "ts"))
        unknown = ~np.isin(source, logs) & (self.scope.of_event("leg", drops) > 0)
        return bool((unknown & self.scope.in_range(source, ts)).any())

    @cached_property
    def kernel_ns(self) -> Int64s:
        """Return the time in kernel (ns) of each chosen packet."""
        return self.made.units.times(self.rows)

    def ids(self, rows: Int64s) -> list[int]:
        """Return the numbers (-n for K<n>) of the chosen packets at the indices `rows`."""
        return [int(one) for one in self.made.units.id[self.rows[rows]]]

    @cached_property
    def time(self) -> TimeTable:
        """Return the parts into which the time of the chosen packets divides.

        `parts` is set, too, because it takes long to divide the times.
        """
        kept = list[Parts]()
        found = time_of(self.made, self.rows, self._blocks(kept))
        self.parts = self._grouped(kept)
        return found

    @property
    def busy_ns(self) -> int:
        """Return the time (ns) in which functions ran for chosen packets, without probe costs."""
        busy = (row for row in self.time.rows if row.kind == BUSY and row.part != WITHOUT_PROBE)
        return sum(row.total_ns for row in busy)

    @cached_property
    def parts(self) -> PartGroups:
        """Return the time of each chosen packet in each part; packets are indices of `rows`.

        Parts of functions whose times are not needed are left out.
        """
        kept = list[Parts]()
        for _ in self._blocks(kept):
            pass
        return self._grouped(kept)

    def _blocks(self, kept: list[Parts]) -> Iterator[Parts]:
        """Yield the parts of the chosen packets' times; append the needed parts to `kept`."""
        needed = np.tile(self._needed, self.made.part_count // self.made.per_stage)
        for parts in self.made.blocks(self.rows):
            yield parts
            mine = np.flatnonzero(needed[parts.place])
            kept.append(parts._replace(**{n: c[mine] for n, c in parts._asdict().items()}))

    def _grouped(self, blocks: list[Parts]) -> PartGroups:
        row = np.empty(len(self.made.units.id), np.int32)  # only those of `rows` are read
        row[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        return grouped(blocks, self.made.part_count, row)

    @cached_property
    def medians(self) -> Parts:
        """Return the parts of the times of the median packets of the chosen packets' classes."""
        peers = np.flatnonzero(np.bincount(self._peers))
        return self.made.divided(distinct(self.made.classes.median[peers]))

    @cached_property
    def _peers(self) -> Int64s:
        """Return for each chosen packet the number of the class with which it is compared."""
        return self.made.classes.peers[self.rows]

    def spent(self, part: int) -> Int64s:
        """Return the time (ns) that each chosen packet spent in one part, in all stages together.

        `part` is the index that the part has in each stage.
        """
        return self._sum_of(np.array([part]))

    def spent_in(self, functions: Bools) -> Int64s:
        """Return the busy time (ns) of each chosen packet in the marked functions.

        `functions` holds a flag for each of Scope.function_names.
        """
        return self._sum_of(np.flatnonzero(functions))

    def _sum_of(self, parts: Int64s) -> Int64s:
        """Return how long (ns) each chosen packet spent in `parts` (indices in each stage)."""
        found = np.zeros(len(self.rows), np.int64)
        for stage in range(0, self.made.part_count, self.made.per_stage):
            for part in parts.tolist():
                row, ns = self.parts.of(stage + part)
                found[row] += ns  # a packet has a part of a stage once
        return found

    def median_of(self, part: int) -> Int64s:
        """Return for each chosen packet how long its class's median packet spent in a part (ns).

        `part` is the index that the part has in each stage.  The result is -1 for a packet whose
        class is too small for a comparison.
        """
        found = np.zeros(len(self.made.units.id), np.int64)
        mine = self.medians.place % self.made.per_stage == part
        np.add.at(found, self.medians.unit[mine], self.medians.ns[mine])
        classes = self.made.classes
        typical = np.where(classes.size >= SMALL_CLASS, found[classes.median], -1)
        return np.asarray(typical[self._peers], np.int64)

    def matters(self, ns: Int64s, least: int = LEAST_NS) -> Bools:
        """Return for each chosen packet whether `ns`, a part of its time, is worth a finding.

        The part must be at least `least` ns long, and at least 1/SHARE of the packet's time in
        kernel.
        """
        return np.asarray((ns >= least) & (ns * SHARE >= self.kernel_ns))

    def waited(self, ns: Int64s) -> Bools:
        """Return for each chosen packet whether its wait of `ns` is long enough for a finding."""
        return self.matters(ns, WAIT_NS)

    @cached_property
    def legs(self) -> ChosenLegs:
        """Return the legs of the chosen packets."""
        return ChosenLegs(self.scope, *self.made.units.legs_of(self.rows))

    def row_of(self, legs: Int64s) -> Int64s:
        """Return the chosen packet of each of `legs`, as an index of `rows`; -1 if none."""
        return self.legs.row_of(legs)

    def packets_of(self, legs: Int64s) -> tuple[Int64s, Int64s]:
        """Return (index in `legs`, index of `rows`) for each chosen packet of each leg."""
        return self.legs.packets_of(legs)

    def waits(self, kind: int) -> Spans:
        """Return the chosen packets' waits of `kind`, including waits after the end of a leg.

        If several packets have the same leg, a wait in this leg is returned once for each of them.
        """
        return self.waits_of([kind])[0]

    def waits_of(self, kinds: Sequence[int]) -> tuple[Spans, Array]:
        """Return the chosen packets' waits of these kinds, in table order, and the kind of each."""
        mine, leg = self.legs.waits(kinds)
        (begin, end), kind = self._wait_times(mine), self.scope.columns.near("wait", "kind", mine)
        place, row = self.packets_of(leg)
        if len(place) == len(leg):  # no leg is of several packets
            return Spans(leg, begin, end, row), kind
        return Spans(leg[place], begin[place], end[place], row), kind[place]

    def waits_at(self, kind: int, time: int) -> Spans:
        """Return the waits of `kind` of all packets that were waiting at `time`.

        `time` is in ns on the clock of each log.  `row` is -1 for packets that are not chosen.
        """
        columns = self.scope.columns
        mine = columns.rows_during("wait", "begin_ns", ("end_ns",), (time, time))
        mine = mine[columns.near("wait", "kind", mine) == kind]
        leg = columns.near("wait", "leg", mine).astype(np.int64) - 1
        found = Spans(leg, *self._wait_times(mine), self.row_of(leg))
        return found.selected((found.begin < time) & (found.end > time))

    def _wait_times(self, rows: Int64s) -> tuple[Int64s, Int64s]:
        """Return begin and end (ns) of the waits `rows` (0-based, rising)."""
        near = self.scope.columns.near
        begin, end = (near("wait", name, rows).astype(np.int64) for name in ("begin_ns", "end_ns"))
        return begin, end

    def call_after(self, leg: int, begin: int, end: int) -> int:
        """Return the call (0-based row) with which a leg continues after a wait; -1 if none.

        The wait lasts from `begin` to `end` (ns on the log's clock).  The call is the first one
        that begins exactly when the wait ends.  If no call begins when the wait ends, the result is
        the innermost call that began before the wait and goes on after it.  If no call goes on
        after the wait either, the result is the first call after the wait.
        """
        rows, _ = self.scope.columns.rows_with("call", "leg", np.array([leg + 1]))
        entry, dur = self.of_call("entry_ns", rows), self.of_call("dur_ns", rows)
        open_ = np.flatnonzero((entry <= begin) & (entry + dur >= end))
        later = np.flatnonzero(entry >= end)
        if len(later) and (entry[later[0]] == end or not len(open_)):
            return int(rows[later[0]])
        return int(rows[open_[-1]]) if len(open_) else -1

    def source(self, leg: int) -> int:
        """Return the source id of the kernel log that a leg is from."""
        return int(self.scope.sources_of(np.array([leg]))[0])

    def call(self, name: str, row: int) -> int:
        """Return the column `name` of the call in the 0-based row `row`."""
        return int(self.of_call(name, np.array([row]))[0])

    def function(self, row: int) -> str:
        """Return the name of the function that ran in a call (0-based row)."""
        rows = np.array([row])
        source = self.scope.sources_of(self.leg_of(rows))
        number = int(self.scope.functions_of(self.of_call("func", rows), source)[0])
        return [*self.made.functions, "a function without a name"][number]

    @cached_property
    def event_kinds(self) -> frozenset[int]:
        """Return all kinds of events that occur in the session."""
        fields = self.scope.fields
        if fields is None:
            return self._found_kinds()
        kept: frozenset[int] = fields.cached("event kinds", self._found_kinds)
        return kept

    def _found_kinds(self) -> frozenset[int]:
        kinds = self.event("event")
        low = int(kinds.min(initial=0))
        if low < 0:  # of a later version
            return frozenset(np.unique(kinds).tolist())
        return frozenset(np.flatnonzero(np.bincount(kinds)).tolist())

    def event(self, name: str) -> Array:
        """Return the column `name` of all events of the session."""
        return self.scope.columns.array("event", name)

    def events(self, kind: int) -> Int64s:
        """Return the events of `kind` (0-based rows) in legs of chosen packets."""
        mine = np.flatnonzero(self.event("event") == kind)
        leg = self.scope.of_event("leg", mine) - 1
        return mine[(leg >= 0) & (self.row_of(np.maximum(leg, 0)) >= 0)]

    def called(self, *names: str) -> Int64s:
        """Return the calls of the functions `names` (0-based rows) in legs of chosen packets."""
        return self.legs.called(frozenset(names))

    def of_call(self, name: str, calls: Int64s) -> Int64s:
        """Return the column `name` of `calls` (0-based rows), as int64."""
        return np.asarray(self.scope.columns.take("call", name, calls), np.int64)

    def of_leg(self, name: str, legs: Int64s) -> Int64s:
        """Return the column `name` of `legs` (0-based), as int64."""
        return np.asarray(self.scope.columns.take("leg", name, legs), np.int64)

    def leg_of(self, calls: Int64s) -> Int64s:
        """Return the 0-based leg of each of `calls` (0-based rows)."""
        return self.of_call("leg", calls) - 1

    def worst(self, ns: Int64s, which: Bools) -> Int64s:
        """Return the packets that lost most time, at most EXAMPLES, as indices of `rows`.

        `ns` is the time that each chosen packet lost; only packets in `which` are considered.
        """
        rows = np.flatnonzero(which)
        return rows[np.argsort(-ns[rows], kind="stable")][:EXAMPLES]

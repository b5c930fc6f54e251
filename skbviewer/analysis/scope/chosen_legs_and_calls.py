# SPDX-License-Identifier: MIT
"""What a statistic counts: the legs and calls of chosen packets in a range of time.

Input: the columns of a session.  Output: flags or numbers of its legs, calls and packets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...records import POINTS_GAP, UNTIMED, Progress, Silent
from ...records.bulk_dtypes import DETAIL_BITS
from ...records.types import Bools, Int64s
from ...store import Columns
from ...store.whole_columns import Array
from ..calls.record_loss_times import Spans
from ..packet_legs import have_identity, legs_of_rows
from ..row_number_sets import distinct, flags_of
from ..timeline.packet_session_times import Clock
from .function_numbers import FunctionNumbers, layers_of
from .rows_of_shared_calls import counted_rows
from .scope_inputs import NO_DETAILS, Chosen, Details, Kernel
from .time_range import TimeRange

if TYPE_CHECKING:
    from ..fields.field_source_tables import Data

Made = TypeVar("Made")
DENSE = 16  # all calls are read to take those of one leg of so many


class Scope:
    """Legs and calls selected by `chosen`; `clock` converts times of a KBL into session time."""

    def __init__(
        self,
        columns: Columns,
        kernels: Mapping[int, Kernel],
        clock: Clock,
        chosen: Chosen,
        fits: Sequence[Mapping[str, Any]] = (),
        captures: tuple[int, ...] = (),
        progress: Progress | None = None,
        fields: Data | None = None,
        details: Details = NO_DETAILS,
    ) -> None:
        """Select the legs and calls of `chosen` in the session that has the columns `columns`.

        `kernels` are the KBLs by source id.  `fits` are the clock fits that `skbviewer info --json`
        prints, `captures` the captures' source ids.  `fields` are the tables of display filters and
        TCP streams.  `details` are facts about events.
        """
        self.fields, self.details = fields, details
        self.columns = columns
        self.kernels = kernels
        self.clock = clock
        self.fits = fits
        self.captures = captures
        self.progress = progress or Silent()
        self._chosen = chosen
        self._range = TimeRange(columns, clock, chosen.begin_ns, chosen.end_ns)
        self._cuts = True  # the range selects calls, not only legs
        self._known: dict[str, Any] = {}

    def once_made(self, name: str, make: Callable[[], Made]) -> Made:
        """Return make(); it is called only once for each `name`, because several tables need it."""
        if name not in self._known:
            self._known[name] = make()
        found: Made = self._known[name]
        return found

    def of_call(self, column: str) -> Int64s:
        """Return the column `column` of the chosen calls, as int64.

        This method, like every method that reads columns, may raise Cancelled.
        """
        return np.asarray(self.narrow(column), np.int64)

    def narrow(self, column: str) -> Array:
        """Return a column of the chosen calls, in the narrowest type that can hold it."""
        self.progress.report("Counting", 0, 0)
        if self.has_few_calls:
            return self.columns.take("call", column, self.call_rows)
        values = self.columns.array("call", column)
        return values if self._all_calls else values[self.calls]

    @cached_property
    def call_count(self) -> int:
        """Return the number of selected calls."""
        return len(self.call_rows) if self.has_few_calls else int(np.count_nonzero(self.calls))

    @cached_property
    def _all_calls(self) -> bool:
        return self.call_count == self.columns.length("call")

    @cached_property
    def has_few_calls(self) -> bool:
        """Return whether so few calls are selected that they are read one by one."""
        begun = self._begun_calls
        if begun is not None and len(begun) * DENSE < self.columns.length("call"):
            return True
        return len(self._call_legs) * DENSE < self.columns.length("leg")

    @cached_property
    def _begun_calls(self) -> Int64s | None:
        """Return rows (0-based, rising) that include all calls in the range; None: no range."""
        if not (self.is_ranged and self._cuts):
            return None
        return self._range.rows("call", "entry_ns", self.kernels)

    def of_leg(self, column: str) -> Int64s:
        """Return the column `column` of all legs, as int64."""
        self.progress.report("Counting", 0, 0)
        return np.asarray(self.columns.array("leg", column), np.int64)

    def of_event(self, column: str, rows: Int64s) -> Int64s:
        """Return the column `column` of the events `rows` (0-based), as int64.

        The data of a point are returned without the number of its section, so that equal drops have
        equal data.
        """
        made = self.columns.take("event", column, rows).astype(np.int64)
        if column == "data":
            tracers = [log for log, kernel in self.kernels.items() if kernel.names.is_tracer]
            points = np.isin(self.columns.take("event", "source", rows), tracers)
            made[points] &= (1 << DETAIL_BITS) - 1
        return made

    @property
    def interval_ns(self) -> int | None:
        """Return the length (ns) of intervals that the user asked for; None if the user did not."""
        return self._chosen.interval_ns

    def in_range(self, source: Int64s, ts: Int64s) -> Bools:
        """Return for each time `ts` whether it is in the chosen range of time.

        `ts` is in ns on the clock of the log `source`; `source` has an element for each time.
        """
        return self._range.has(source, ts)

    def lost_between(self, source: Int64s, begin: Int64s, end: Int64s) -> Bools:
        """Return for each i whether the log source[i] lost records from begin[i] to end[i] (ns)."""
        found = np.zeros(len(source), np.bool_)
        for number, kernel in self.kernels.items():
            mine = np.flatnonzero(source == number)
            found[mine] = Spans(kernel.losses).meet(begin[mine], end[mine])
        return found

    @property
    def has_losses(self) -> bool:
        """Return whether any log lost records in the chosen range of time."""
        each = ((log, kernel.losses) for log, kernel in self.kernels.items())
        return any(self._range.meets(log, losses) for log, losses in each)

    @property
    def waits(self) -> tuple[Int64s, Int64s]:
        """Return the waits (0-based rows, rising) of all selected legs, and the leg of each.

        If many legs are selected, waits of other legs are included, too.
        """
        if self.has_few_calls:
            legs = self._call_legs
            if self._begun_calls is not None:
                legs = distinct(np.concatenate([self.leg_rows, self.leg_of_call]))
            rows, leg = self.columns.rows_with("wait", "leg", legs + 1)
        else:
            leg = self.columns.array("wait", "leg")
            rows = np.arange(len(leg))
        return rows, leg.astype(np.int64) - 1

    @property
    def is_ranged(self) -> bool:
        """Return whether the user chose a range of time."""
        return self._range.is_limited

    @property
    def has_everything(self) -> bool:
        """Return whether the user also chose lifetimes that have no network identity."""
        return self._chosen.everything

    @property
    def is_chosen(self) -> bool:
        """Return whether the user chose rows of the packet list, or a range of time."""
        return self._chosen.packets is not None or self.is_ranged

    @cached_property
    def is_empty(self) -> bool:
        """Return whether the user chose rows or a range of time that select nothing."""
        if not self.is_chosen:
            return False
        if len(self.packets) or len(self.leg_rows) or len(self.call_rows):
            return False
        rows = self._range.rows("event", "ts", self.kernels)
        leg, ts = (
            self.columns.near("event", name, rows).astype(np.int64) for name in ("leg", "ts")
        )
        return not self.happened(leg[leg > 0] - 1, ts[leg > 0]).any()

    def has_recorded(self, group: str) -> bool:
        """Return whether at least one log says that it recorded the events of `group`."""
        metas = (kernel.names.meta for kernel in self.kernels.values())
        return any(group in meta.get("events", "").split(",") for meta in metas)

    @property
    def names_groups(self) -> bool:
        """Return whether each log says which groups of events it recorded."""
        return all("events" in kernel.names.meta for kernel in self.kernels.values())

    @cached_property
    def legs(self) -> Bools:
        """Return for each leg whether it is selected."""
        meant = np.zeros(self.columns.length("leg"), np.bool_)
        meant[self.leg_rows] = True
        return meant

    @cached_property
    def leg_rows(self) -> Int64s:
        """Return the numbers of the selected legs (0-based, rising)."""
        columns, chosen = self.columns, self._chosen
        if chosen.packets is None:
            legs = self._range.rows("leg", "begin_ns", self.kernels)
        else:
            legs = legs_of_rows(columns, chosen.packets)
        if self.is_ranged:
            source, begin = (
                np.asarray(columns.near("leg", name, legs), np.int64)
                for name in ("source", "begin_ns")
            )
            legs = legs[self._range.has(source, begin)]
        return legs if chosen.everything else legs[have_identity(columns, legs)]

    def _are_of_packets(self, legs: Int64s) -> Bools:
        """Return for each of `legs` whether a chosen packet has it, in the range of time or not."""
        if self._chosen.packets is not None or len(legs) * DENSE > self.columns.length("leg"):
            return self._at_any_time.legs[legs]
        if self._chosen.everything:
            return np.ones(len(legs), np.bool_)
        several, place = np.unique(legs, return_inverse=True)
        return have_identity(self.columns, several)[place]

    @cached_property
    def calls(self) -> Bools:
        """Return for each call whether it is selected."""
        if self.has_few_calls:
            meant = np.zeros(self.columns.length("call"), np.bool_)
            meant[self.call_rows] = True
            return meant
        legs = self.columns.length("leg")
        if len(self._call_legs) == legs and not (self.is_ranged and self._cuts):
            return np.ones(self.columns.length("call"), np.bool_)
        leg = np.asarray(self.columns.array("call", "leg"), np.int64) - 1
        meant = flags_of(self._call_legs, legs)[leg]
        if self.is_ranged and self._cuts:
            entry = np.asarray(self.columns.array("call", "entry_ns"), np.int64)
            meant = meant & self._range.has(self.of_leg("source")[leg], entry)
        return np.asarray(meant, np.bool_)

    @cached_property
    def call_rows(self) -> Int64s:
        """Return the rows of the selected calls (0-based, rising)."""
        if not self.has_few_calls:
            return np.flatnonzero(self.calls)
        columns, rows = self.columns, self._begun_calls
        if rows is None:
            return columns.rows_with("call", "leg", self._call_legs + 1)[0]
        if self._chosen.packets is not None:
            rows, _ = columns.rows_with("call", "leg", self._call_legs + 1)
        leg, entry = (
            np.asarray(columns.near("call", name, rows), np.int64) for name in ("leg", "entry_ns")
        )
        inside = self._range.has(self.sources_of(leg - 1), entry)
        rows, leg = rows[inside], leg[inside]
        return rows[self._are_of_packets(leg - 1)]

    def sources_of(self, legs: Int64s) -> Int64s:
        """Return the source id of the log of each of `legs` (0-based)."""
        if len(self.kernels) == 1:
            return np.full(len(legs), next(iter(self.kernels)), np.int64)
        return np.asarray(self.columns.take("leg", "source", legs), np.int64)

    def happened(self, leg: Int64s, ts: Int64s) -> Bools:
        """Return for each leg and time `ts` (ns) whether an event at that time is selected.

        An event is selected if its time is in the range, and if a chosen packet has its leg.
        """
        return self._are_of_packets(leg) & self._range.has(self.sources_of(leg), ts)

    @property
    def unlimited(self) -> Scope:
        """Return a scope of all packets at all times."""
        return self._of(Chosen(everything=self._chosen.everything))

    @property
    def whole(self) -> Scope:
        """Return a scope of the same legs with all their calls, even after the range of time."""
        return self._whole if self.is_ranged else self

    @cached_property
    def _whole(self) -> Scope:
        made = self._of(self._chosen)
        made.legs, made.leg_rows, made._call_legs = self.legs, self.leg_rows, self.leg_rows
        made._cuts = False
        return made

    @cached_property
    def packets(self) -> Int64s:
        """Return the numbers of the selected packets, rising."""
        if self._chosen.packets is None:
            rows = self._range.rows("packet", "ts", self.captures)
        else:
            rows = distinct(self._chosen.packets[self._chosen.packets > 0]) - 1
        if self.is_ranged:
            ts, source = (
                np.asarray(self.columns.near("packet", name, rows), np.int64)
                for name in ("ts", "source")
            )
            timed = ts != UNTIMED
            rows, ts, source = rows[timed], ts[timed], source[timed]
            rows = rows[self._range.has(source, ts, rows)]
        return rows + 1

    @cached_property
    def _call_legs(self) -> Int64s:
        """Return the legs (0-based, rising) whose calls are selected if they begin in the range."""
        return self._at_any_time.leg_rows

    @cached_property
    def _at_any_time(self) -> Scope:
        return self._of(self._chosen._replace(begin_ns=None, end_ns=None))

    def _of(self, chosen: Chosen) -> Scope:
        given = (self.columns, self.kernels, self.clock, chosen, self.fits, self.captures)
        return Scope(*given, self.progress, self.fields, self.details)

    @cached_property
    def leg_of_call(self) -> Int64s:
        """Return the 0-based leg of each chosen call."""
        return self.of_call("leg") - 1

    @cached_property
    def own_ns(self) -> Int64s:
        """Return the self time (ns) of each chosen call, without inner calls and interrupts.

        The self time is -1 if it is unknown.
        """
        return self.of_call("self_ns")

    @cached_property
    def once(self) -> Bools:
        """Return for each row of a chosen call whether the call counts in this row.

        A call is stored once for each leg to which it belongs: a socket's call for all legs that it
        sent or read, a list's call for the legs of all packets in the list.
        """
        return counted_rows(self)

    @property
    def gaps(self) -> Bools:
        """Return for each leg whether it may lack records, so that its numbers are not shown."""
        return np.asarray(self.columns.array("leg", "gap") != 0)

    @property
    def points(self) -> Bools:
        """Return for each leg whether its log has points only, so that calls have no duration."""
        return np.asarray(self.columns.array("leg", "gap") == POINTS_GAP)

    def lost(self, leg: Int64s, begin: Int64s, end: Int64s) -> Bools:
        """Return for each of `leg` whether its log lost records from `begin` to `end` (ns)."""
        return self.lost_between(self.sources_of(leg), begin, end)

    @cached_property
    def function_names(self) -> list[str]:
        """Return the sorted names of all functions in all KBLs."""
        return sorted({n for kernel in self.kernels.values() for n in kernel.functions.values()})

    @cached_property
    def function(self) -> Int64s:
        """Return each chosen call's function, as an index of `function_names`; -1 = no name."""
        return self.functions_of(self.of_call("func"), self.sources_of(self.leg_of_call))

    def functions_of(self, func: Int64s, source: Int64s) -> Int64s:
        """Return the function of each probe id in `func`, as an index of `function_names`.

        `source` has the source id of each probe's log.  The result is -1 for a function without a
        name.
        """
        return self._functions.of(func, source)

    @cached_property
    def _functions(self) -> FunctionNumbers:
        return FunctionNumbers(self.kernels, self.function_names)

    @cached_property
    def layer_names(self) -> list[str]:
        """Return the layer of each function in `function_names`."""
        return layers_of(self.function_names, self.kernels)

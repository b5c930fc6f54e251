# SPDX-License-Identifier: MIT
"""Find the innermost call around each record, whatever packet that call handled.

Input: the records in time order.  Calls nest within one execution context.  Neither a call without
an end nor an ENTRY for a further packet of a list contains other calls.  The open calls of a
context form a stack.  If the log is damaged, a call in the stack may end later than the call above
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import Records, part, scratch_of
from ...records.types import LATEST_NS, Int32s, Int64s
from ..arrays.record_column_blocks import Rows, record_blocks
from ..arrays.value_numbering import IntIndex, longer
from ..record_kinds import ENTRY
from .call_nesting_loops import nest_records


def _no_values(_: slice) -> Int64s:
    return np.zeros(0, np.int64)


class _Stacks(NamedTuple):
    """The stacks of open calls.

    A node is one open call.  `record` is the node's record, `end` its end (ns), and `below` the
    node below it.  `around` is the next node below this node that may contain other calls.
    `before` is the context's sum when the call began.  If the call has ended, but another call is
    still above it, `before` is -1.

    By context: `top` is its top node; `counted` is the sum of the values of its records; `soonest`
    is the earliest time (ns) at which a node below the top one ends.  `sizes` holds the first free
    node, and the number of nodes.
    """

    record: Int32s
    end: Int64s
    below: Int32s
    around: Int32s
    before: Int64s
    top: Int32s
    counted: Int64s
    soonest: Int64s
    sizes: Int64s


class Nesting:
    """The nesting of calls: `parent[record]` is the ENTRY of the innermost call around it, or -1.

    `context` is for each record the number of its execution context, below `contexts`.
    """

    def __init__(self, records: Records) -> None:
        self._records = records
        scratch = scratch_of(records)
        self.carried = scratch.take(len(records), np.bool_)  # a further packet of the same call
        for some in record_blocks(records):
            entry = part(records, "kind", some) == ENTRY
            self.carried[some] = entry & (part(records, "data", some) >= 0)
        self.context, numbers = scratch.take(len(records), np.int32), IntIndex()
        for some in record_blocks(records):
            self.context[some] = numbers.numbers_of(Rows(records, some).contexts())
        self.contexts = numbers.count
        self.parent = scratch.full(len(records), np.int32, -1)
        self._follow(self.parent, np.zeros(0, np.int64))

    def sums_inside(self, values_of: Callable[[slice], Int64s]) -> Int64s:
        """Return for each call the sum of its records' values; 0 for a call without an end.

        `values_of` returns the values of the records in a slice.
        """
        total = scratch_of(self._records).full(len(self._records), np.int64, 0)
        self._follow(np.zeros(0, np.int32), total, values_of)
        return total

    def _follow(
        self, parent: Int32s, inside: Int64s, values_of: Callable[[slice], Int64s] = _no_values
    ) -> None:
        none, long = np.zeros(0, np.int32), np.zeros(0, np.int64)
        open_ = _Stacks(none, long, none, none, long, none, long, *_sizes())
        for some in record_blocks(self._records):
            rows = Rows(self._records, some)
            context = self.context[some]
            open_ = _with_room(open_, self.contexts, int(open_.sizes[1]) + len(context))
            nest_records(
                some.start, rows["ts"], rows["exit_ts"], rows["kind"], context, self.carried[some],
                values_of(some), parent, inside, *open_,
            )  # fmt: skip
        for number in range(self.contexts if len(inside) else 0):
            at = int(open_.top[number])
            while at >= 0:  # only in a damaged log, these are more than a few
                if open_.before[at] >= 0:
                    inside[open_.record[at]] = open_.counted[number] - open_.before[at]
                at = int(open_.below[at])

    def owner(self, entry: npt.NDArray[np.integer]) -> Int32s:
        """Return the call of each ENTRY; a further packet of a list belongs to the list's call."""
        given = self.parent[entry]
        return np.asarray(np.where(self.carried[entry] & (given >= 0), given, entry), np.int32)

    def calls_around(self, record: npt.NDArray[np.integer]) -> Iterator[tuple[Int64s, Int64s]]:
        """Yield the calls around each of the records `record`, level by level, innermost first.

        Each level is a pair of arrays: (index in `record`, ENTRY of the call).
        """
        position = np.arange(len(record))
        call = self.parent[record]
        while len(position := position[inner := call >= 0]):
            call = call[inner]
            now = part(self._records, "ts", record[position])
            open_ = part(self._records, "exit_ts", call) > now  # in a damaged log calls may overlap
            yield position[open_], call[open_]
            call = self.parent[call]


def _sizes() -> tuple[Int64s, Int64s]:
    return np.zeros(0, np.int64), np.array([-1, 0])


def _with_room(open_: _Stacks, contexts: int, nodes: int) -> _Stacks:
    return _Stacks(
        record=longer(open_.record, nodes, -1),
        end=longer(open_.end, nodes, -1),
        below=longer(open_.below, nodes, -1),
        around=longer(open_.around, nodes, -1),
        before=longer(open_.before, nodes, -1),
        top=longer(open_.top, contexts, -1),
        counted=longer(open_.counted, contexts, 0),
        soonest=longer(open_.soonest, contexts, LATEST_NS),
        sizes=open_.sizes,
    )

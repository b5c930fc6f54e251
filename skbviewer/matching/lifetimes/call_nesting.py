# SPDX-License-Identifier: MIT
"""Find the call around each record, whatever packet that call handled.

In: records in time order.  Calls nest within one execution context.  Calls without an end and the
further packets of a list enclose nothing.  The open calls of a context form a stack.  In a damaged
log, a call in the stack may end later than the one above it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import Records, part, scratch_of
from ...records.compiled import allocation_free
from ...records.types import LATEST_NS, Bools, Int32s, Int64s
from ..arrays.int_index import IntIndex, Number, longer
from ..arrays.record_rows import Rows, passing
from ..record_kinds import ENTRY

DEEP = 4096  # open calls of a context that are searched: no kernel nests so deep


class _Stacks(NamedTuple):
    """The stacks of open calls.

    By node (one open call): its `record`; `end`, the time of its end; the node `below` it;
    `around`, the next node below that may enclose; `before`, the context's count when it began, or
    -1 if it has ended but is not on top.

    By context: the `top` node; how many records were `counted`; `soonest`, when a node that has
    another one above it ends first.  `sizes`: the first free node, the number of nodes.
    """

    record: Int32s
    end: Int64s
    below: Int32s
    around: Int32s
    before: Int32s
    top: Int32s
    counted: Int32s
    soonest: Int64s
    sizes: Int64s


class Nesting:
    """How calls nest; `parent` is the ENTRY of the innermost call around each record, or -1."""

    def __init__(self, records: Records) -> None:
        self._records = records
        scratch = scratch_of(records)
        self.carried = scratch.take(len(records), np.bool_)  # a further packet of the same call
        for some in passing(records):
            entry = part(records, "kind", some) == ENTRY
            self.carried[some] = entry & (part(records, "data", some) >= 0)
        self.parent = scratch.full(len(records), np.int32, -1)
        self._follow(np.zeros(0, np.bool_), self.parent, np.zeros(0, np.int32))

    def inside(self, chosen: npt.NDArray[np.generic]) -> Int32s:
        """Count the records of `chosen` in each call that has an end; 0 for other records."""
        count = scratch_of(self._records).full(len(self._records), np.int32, 0)
        self._follow(chosen.astype(np.bool_, copy=False), np.zeros(0, np.int32), count)
        return count

    def _follow(self, chosen: Bools, parent: Int32s, inside: Int32s) -> None:
        contexts, none = IntIndex(), np.zeros(0, np.int32)
        open_ = _Stacks(none, none.astype(np.int64), none, none, none, none, none, *_sizes())
        for some in passing(self._records):
            rows = Rows(self._records, some)
            context = contexts.of(rows.contexts())
            open_ = _with_room(open_, contexts.count, int(open_.sizes[1]) + len(context))
            _follow(
                some.start, rows["ts"], rows["exit_ts"], rows["kind"], context, self.carried[some],
                chosen[some], parent, inside, *open_,
            )  # fmt: skip
        for number in range(contexts.count if len(inside) else 0):
            at = int(open_.top[number])
            while at >= 0:  # more than a few only in a damaged log
                if open_.before[at] >= 0:
                    inside[open_.record[at]] = open_.counted[number] - open_.before[at]
                at = int(open_.below[at])

    def around(self, record: npt.NDArray[np.integer]) -> Iterator[tuple[Int64s, Int64s]]:
        """Yield all calls around these records: (position in `record`, ENTRY), innermost first."""
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


@allocation_free
def _follow(
    first: int,
    ts: Int64s,
    exit_ts: Int64s,
    kind: npt.NDArray[np.uint8],
    context: Int32s,
    carried: Bools,
    chosen: Bools,
    parent: Int32s,
    inside: Int32s,
    record: Int32s,
    end: Int64s,
    below: Int32s,
    around: Int32s,
    before: Int32s,
    top: Int32s,
    counted: Int32s,
    soonest: Int64s,
    sizes: Int64s,
) -> None:
    """Set `parent` of some records, and `inside` of the calls that end before one of them.

    An empty array is not set.
    """
    for i in range(len(ts)):
        where, now = context[i], ts[i]
        node = np.int64(top[where])
        while node >= 0 and end[node] <= now:
            if len(inside) and before[node] >= 0:
                inside[record[node]] = counted[where] - before[node]
            following = np.int64(below[node])
            below[node], sizes[0] = sizes[0], node
            node = following
        top[where] = node
        if len(inside) and soonest[where] <= now:
            _end_below(node, where, now, inside, record, end, below, before, counted, soonest)
        enclosing = np.int64(around[node]) if node >= 0 else np.int64(-1)
        while enclosing >= 0 and end[enclosing] <= now:
            lower = below[enclosing]
            enclosing = np.int64(around[lower]) if lower >= 0 else np.int64(-1)
        if node >= 0 and around[node] != node:
            around[node] = enclosing
        if len(parent) and enclosing >= 0:
            parent[first + i] = record[enclosing]
        if len(chosen) and chosen[i]:
            counted[where] += 1
        if kind[i] != ENTRY or exit_ts[i] < 0:
            continue
        if node >= 0 and end[node] < exit_ts[i]:
            soonest[where] = min(soonest[where], end[node])
        new = sizes[0]
        if new >= 0:
            sizes[0] = below[new]
        else:
            new = sizes[1]
            sizes[1] += 1
        record[new], end[new], below[new] = first + i, exit_ts[i], node
        before[new], top[where] = counted[where], new
        around[new] = enclosing if carried[i] else new


@allocation_free
def _end_below(
    node: Number,
    where: Number,
    now: Number,
    inside: Int32s,
    record: Int32s,
    end: Int64s,
    below: Int32s,
    before: Int32s,
    counted: Int32s,
    soonest: Int64s,
) -> None:
    """Store the counts of calls that ended while another one was above them in the stack."""
    highest, soon = np.int64(-LATEST_NS), np.int64(LATEST_NS)
    for _ in range(DEEP):
        if node < 0:
            break
        if before[node] >= 0 and end[node] <= now:
            inside[record[node]] = counted[where] - before[node]
            before[node] = -1
        elif before[node] >= 0 and end[node] < highest:
            soon = min(soon, end[node])
        highest = max(highest, end[node])
        node = np.int64(below[node])
    soonest[where] = soon

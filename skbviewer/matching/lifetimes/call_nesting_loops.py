# SPDX-License-Identifier: MIT
"""Stacks of open calls, one for each context: loops of call_nesting.py."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records.compiled import allocation_free
from ...records.types import LATEST_NS, Bools, Int32s, Int64s
from ..arrays.value_numbering import Number
from ..record_kinds import ENTRY

DEEP = 4096  # most open calls of a context that are searched: no kernel nests calls so deeply


@allocation_free
def nest_records(
    first: int,
    ts: Int64s,
    exit_ts: Int64s,
    kind: npt.NDArray[np.uint8],
    context: Int32s,
    carried: Bools,
    values: Int64s,
    parent: Int32s,
    inside: Int64s,
    record: Int32s,
    end: Int64s,
    below: Int32s,
    around: Int32s,
    before: Int64s,
    top: Int32s,
    counted: Int64s,
    soonest: Int64s,
    sizes: Int64s,
) -> None:
    """Follow the stacks of open calls through a block of records, which begins at record `first`.

    For each record, parent[record] becomes the ENTRY of the innermost call around it.  For each
    call, inside[call] becomes the sum of the `values` of the records inside the call, when the call
    ends.  If `parent` or `inside` is empty, that array is not written.  `record` to `before` are
    columns of the nodes, and `top`, `counted` and `soonest` columns of the contexts (see _Stacks).
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
        if len(values):
            counted[where] += values[i]
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
    inside: Int64s,
    record: Int32s,
    end: Int64s,
    below: Int32s,
    before: Int64s,
    counted: Int64s,
    soonest: Int64s,
) -> None:
    """Set `inside` of calls in the stack below `node` that ended before the call above them."""
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

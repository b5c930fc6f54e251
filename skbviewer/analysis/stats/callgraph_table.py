# SPDX-License-Identifier: MIT
"""Callers and callees, as gprof shows them: `skbviewer stats callgraph`.

Each function has an entry: its callers, itself, and the functions that it called.  The caller is
the recorded call directly around a call in the same leg.  Functions without a probe between caller
and callee are not seen.  A call counts once, however many packets it handled.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ...records.compiled import compiled
from ...records.types import Bools, Int64s
from ..parallel_blocks import each_made
from ..row_number_sets import distinct
from ..scope import Scope
from ..scope.chosen_call_blocks import CallBlock, call_blocks

CALLER, SELF, CALLED = "called by", "itself", "calls"
NOBODY = "(no recorded function)"


class CallGraphRow(NamedTuple):
    """A line in the entry of `function`; `other` is a caller, the function itself, or a callee.

    The numbers are about the calls between the two functions: the calls of `function` if `other` is
    a caller, otherwise the calls of `other`.
    """

    function: str
    role: str
    other: str
    number: int  # calls
    self_ns: int  # of calls where it is known
    total_ns: int  # of calls whose duration is known


class _Arcs(NamedTuple):
    """Pairs of a calling and a called function, with sums over the calls of the called one.

    `caller` and `called` are indices of functions.  If the caller is unknown, `caller` equals the
    number of functions.
    """

    caller: Int64s
    called: Int64s
    number: Int64s
    self_ns: Int64s
    total_ns: Int64s


def callgraph_rows(scope: Scope) -> list[CallGraphRow]:
    """Return for each called function its callers and callees; the longest total comes first.

    Raises Cancelled.
    """
    names, arcs = [*scope.function_names, NOBODY], _arcs(scope)
    size = len(names)
    total = _sum(arcs.called, arcs.total_ns, size)
    rows = []
    for f in sorted(set(arcs.called.tolist()), key=lambda one: (-total[one], names[one])):
        above = np.flatnonzero(arcs.called == f)
        below = np.flatnonzero(arcs.caller == f)
        rows += _lines(arcs, above, arcs.caller, names, names[f], CALLER)
        own = [int(column[above].sum()) for column in arcs[2:]]
        rows.append(CallGraphRow(names[f], SELF, names[f], *own))
        rows += _lines(arcs, below, arcs.called, names, names[f], CALLED)
    return rows


def _lines(
    arcs: _Arcs, mine: Int64s, other: Int64s, names: list[str], function: str, role: str
) -> list[CallGraphRow]:
    """Return a row for each of `arcs` at the indices `mine`, the longest total first."""
    found = [
        CallGraphRow(
            function,
            role,
            names[int(other[at])],
            int(arcs.number[at]),
            int(arcs.self_ns[at]),
            int(arcs.total_ns[at]),
        )
        for at in mine.tolist()
    ]
    return sorted(found, key=lambda row: (-row.total_ns, row.other))


def _arcs(scope: Scope) -> _Arcs:
    size = len(scope.function_names) + 1
    sums = np.zeros((3, size * size), np.int64)
    blocks = call_blocks(scope, "func", "parent", "self_ns", "dur_ns")
    for place, own, dur in each_made(partial(_calls_of, scope, scope.once, size), blocks):
        add_arcs(place, own, dur, sums)
    used = np.flatnonzero(sums[0])
    return _Arcs(used // size, used % size, *(one[used] for one in sums))


def _calls_of(
    scope: Scope, once: Bools, size: int, block: CallBlock
) -> tuple[Int64s, Int64s, Int64s]:
    """Return (caller * size + called, self time, duration) of each call that counts (ns)."""
    func, parent, own, dur = block.columns.values()
    mine = np.flatnonzero(once[block.first : block.first + len(func)])
    called = scope.functions_of(func[mine], scope.sources_of(block.leg[mine]))
    named = called >= 0
    mine, called = mine[named], called[named]
    caller = _callers(scope, block.leg[mine], parent[mine])
    return np.where(caller >= 0, caller, size - 1) * size + called, own[mine], dur[mine]


def _callers(scope: Scope, leg: Int64s, parent: Int64s) -> Int64s:
    """Return the function of each of the calls `parent` (ids, or -1); -1 = no function."""
    inner = np.flatnonzero(parent > 0)
    found = np.full(len(parent), -1, np.int64)
    if len(inner):
        used = distinct(parent[inner] - 1)
        func = scope.columns.near("call", "func", used).astype(np.int64)
        func = func[np.searchsorted(used, parent[inner] - 1)]
        found[inner] = scope.functions_of(func, scope.sources_of(leg[inner]))
    return found


@compiled
def add_arcs(place: Int64s, own: Int64s, dur: Int64s, sums: Int64s) -> None:
    """Add calls to `sums`, at the index `place`: number, self time and duration (ns)."""
    for i in range(len(place)):
        at = place[i]
        sums[0, at] += 1
        sums[1, at] += max(own[i], 0)
        sums[2, at] += max(dur[i], 0)


def _sum(group: Int64s, value: Int64s, size: int) -> Int64s:
    total = np.zeros(size, np.int64)
    np.add.at(total, group, value)
    return total

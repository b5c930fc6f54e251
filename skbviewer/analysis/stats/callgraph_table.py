# SPDX-License-Identifier: MIT
"""Callers and callees, as gprof shows them: `skbviewer stats callgraph`.

Each function has an entry: its callers, itself, and the functions that it called.  Callers are the
recorded calls directly around a call in the same leg; functions between them without a probe are
not seen.  A call counts once, however many packets it handled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Int64s
from .scope import Scope

CALLER, SELF, CALLED = "called by", "itself", "calls"
NOBODY = "(no recorded function)"


class CallGraphRow(NamedTuple):
    """A line of the entry of `function`; `other` is a caller, the function itself, or a callee.

    The numbers are those of the calls between the two: the calls of `function` if `other` is a
    caller, otherwise those of `other`.
    """

    function: str
    role: str
    other: str
    number: int  # calls
    self_ns: int  # of calls where it is known
    total_ns: int  # of calls whose duration is known


class _Arcs(NamedTuple):
    """Calls between two functions, a row for each pair, with sums over these calls.

    `caller` and `called` are indices of functions; the number of names means none.
    """

    caller: Int64s
    called: Int64s
    number: Int64s
    self_ns: Int64s
    total_ns: Int64s


def callgraph_rows(scope: Scope) -> list[CallGraphRow]:
    """Return for each called function its callers and callees, longest total first.

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
    """Return a row for each of the `arcs` at the indices `mine`, longest total first."""
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
    known = (scope.function >= 0) & scope.once
    called, caller = scope.function[known], _callers(scope)[known]
    place = np.where(caller >= 0, caller, size - 1) * size + called
    own, dur = scope.own_ns[known], scope.of_call("dur_ns")[known]
    number = np.bincount(place, minlength=size * size)
    sums = (_sum(place, np.maximum(ns, 0), size * size) for ns in (own, dur))
    used = np.flatnonzero(number)
    return _Arcs(used // size, used % size, number[used], *(one[used] for one in sums))


def _callers(scope: Scope) -> Int64s:
    """Return for each chosen call the function of the call around it; -1 = none."""
    parent = scope.of_call("parent")
    inner = np.flatnonzero(parent > 0)
    func = np.asarray(scope.columns.array("call", "func"))[parent[inner] - 1]
    found = np.full(len(parent), -1, np.int64)
    found[inner] = scope.functions_of(func, scope.of_leg("source")[scope.leg_of_call[inner]])
    return found


def _sum(group: Int64s, value: Int64s, size: int) -> Int64s:
    total = np.zeros(size, np.int64)
    np.add.at(total, group, value)
    return total

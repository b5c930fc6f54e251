# SPDX-License-Identifier: MIT
"""Call stacks of the chosen packets, with the self time of each stack, for flame graphs.

Input: a Scope, or the path of a single packet.  Output: the distinct stacks, each with the sum of
the self times of its calls (docs/times.md).  A call counts once, however many packets it handled,
as in `skbviewer stats functions`.  A call whose self time is unknown adds no time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records import Leg, PacketPath
from ...records.types import Int64s
from ..breakdown.self_counter_values import counter_name, own_counts
from ..scope import Scope
from ..timeline.row_stacking import ranks

ROOT = -1


class Stack(NamedTuple):
    """The functions of a call stack, outermost first, and the self time (ns) of the innermost."""

    functions: tuple[str, ...]
    self_ns: int


class _Nodes(NamedTuple):
    """The tree of call stacks: each node's parent (ROOT: none), and the function it adds."""

    parent: Int64s
    function: Int64s


class StackTree(NamedTuple):
    """All call stacks as a tree: each node's parent (ROOT: none), and its function in `names`.

    Arrays are int64 and equally long.  A parent has a lower index than its children.  `calls` is
    the number of calls that have the node's stack.  `self_ns` is the sum of the known self times of
    these calls.  `counted` is the number of events that the hardware counter `counter` counted in
    these calls, without inner calls.  If no counter was recorded, `counter` is "" and `counted` is
    0 everywhere.
    """

    names: tuple[str, ...]
    parent: Int64s
    function: Int64s
    self_ns: Int64s
    calls: Int64s
    counted: Int64s
    counter: str = ""

    def levels(self) -> list[Int64s]:
        """Return the nodes at each depth, the outermost first."""
        found, above = [], np.array([ROOT], np.int64)
        while len(above):
            above = np.flatnonzero(np.isin(self.parent, above))
            found.append(above)
        return found[:-1]


def path_stacks(path: PacketPath) -> list[Stack]:
    """Return the call stacks in which one packet spent time, in the order of its calls.

    Legs that may belong to another packet are left out.
    """
    spent: dict[tuple[str, ...], int] = {}
    counted: set[tuple[int, str, int, int, int]] = set()
    for leg in path.certain_legs:
        for at, call in enumerate(leg.calls):
            key = (leg.source, call.function, call.entry_ns, call.cpu, call.pid)
            if key not in counted and call.self_ns:
                stack = _stack(leg, at)
                spent[stack] = spent.get(stack, 0) + call.self_ns
            counted.add(key)
    return [Stack(*one) for one in spent.items()]


def _stack(leg: Leg, at: int) -> tuple[str, ...]:
    """Return the functions around a call of a leg, then the call's own function."""
    found: list[str] = []
    while at >= 0 and len(found) <= len(leg.calls):
        found.append(leg.calls[at].function)
        at = leg.calls[at].parent
    return tuple(reversed(found))


def stack_tree(scope: Scope) -> StackTree:
    """Return the tree of the call stacks of all chosen calls.  Raises Cancelled."""
    function, names = _functions(scope)
    node, nodes = _nodes(scope, function, max(len(names), 1))
    size, once = len(nodes.parent), np.flatnonzero(scope.once)
    spent = np.zeros(size, np.int64)
    np.add.at(spent, node[once], np.maximum(scope.own_ns[once], 0))
    calls = np.bincount(node[once], minlength=size)
    counted, counter = np.zeros(size, np.int64), counter_name(scope)
    if counter:
        np.add.at(counted, node[once], np.maximum(own_counts(scope)[once], 0))
    given = (nodes.parent, nodes.function, spent, calls, counted)
    return StackTree(tuple(names), *given, counter if counted.any() else "")


def call_stacks(scope: Scope) -> list[Stack]:
    """Return the call stacks in which time was spent, in the order of their first calls."""
    function, names = _functions(scope)
    node, nodes = _nodes(scope, function, max(len(names), 1))
    counted = np.flatnonzero(scope.once & (scope.own_ns > 0))
    spent = np.zeros(len(nodes.parent), np.int64)
    np.add.at(spent, node[counted], scope.own_ns[counted])
    first = np.full(len(spent), len(node), np.int64)
    np.minimum.at(first, node, np.arange(len(node)))
    with_time = np.flatnonzero(spent)
    order = with_time[np.argsort(first[with_time], kind="stable")]
    return [Stack(_path(nodes, names, at), int(spent[at])) for at in order.tolist()]


def _functions(scope: Scope) -> tuple[Int64s, list[str]]:
    """Return the function of each chosen call, as an index of a list of names, and the list."""
    names, function = list(scope.function_names), scope.function.copy()
    unnamed = np.flatnonzero(function < 0)
    probes, which = np.unique(scope.of_call("func")[unnamed], return_inverse=True)
    function[unnamed] = len(names) + which.reshape(-1)
    return function, names + [f"probe {probe}" for probe in probes.tolist()]


def _nodes(scope: Scope, function: Int64s, names: int) -> tuple[Int64s, _Nodes]:
    """Return the node of each chosen call, and the tree of all nodes.

    `function` is the function of each chosen call, a number below `names`.  The parent of a node is
    the node of the call around that node's call.  A call without a chosen call around it has no
    parent.
    """
    above, depth = scope.of_call("parent"), scope.of_call("depth")
    above = _chosen_places(scope, above)
    node = np.full(len(function), ROOT, np.int64)
    parents, functions, count = [], [], 0
    by_depth = np.argsort(depth.astype(np.uint16), kind="stable")  # numpy sorts these in one pass
    ends = np.cumsum(np.bincount(depth)) if len(depth) else depth
    for calls in np.split(by_depth, ends[:-1]):
        over = np.where(above[calls] >= 0, node[above[calls]], ROOT)
        found, which = ranks((over - ROOT) * names + function[calls])
        node[calls] = count + which
        parents.append(found // names + ROOT)
        functions.append(found % names)
        count += len(found)
    return node, _Nodes(np.concatenate(parents), np.concatenate(functions))


def _chosen_places(scope: Scope, call: Int64s) -> Int64s:
    """Return the index of each call (ids) among the chosen calls; ROOT if it is not chosen."""
    if scope.has_few_calls:
        rows = scope.call_rows
        place = np.minimum(np.searchsorted(rows, call - 1), max(len(rows) - 1, 0))
        return np.where(rows[place] == call - 1, place, ROOT) if len(rows) else call
    place = np.where(scope.calls, np.cumsum(scope.calls) - 1, ROOT)
    return np.where(call > 0, place[np.maximum(call, 1) - 1], ROOT) if len(place) else call


def _path(nodes: _Nodes, names: list[str], at: int) -> tuple[str, ...]:
    found: list[str] = []
    while at != ROOT:
        found.append(names[nodes.function[at]])
        at = int(nodes.parent[at])
    return tuple(reversed(found))

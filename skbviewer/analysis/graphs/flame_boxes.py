# SPDX-License-Identifier: MIT
"""The boxes of a flame graph: one for each call stack, as wide as its weight.

Input: the tree of call stacks.  Output: arrays of positions and widths, in units of the weight.  A
stack is drawn above the stack that called it.  Boxes above the same box are sorted by the names of
their functions, as in other flame graphs.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records.types import Int64s
from ..words.function_layers import layer_of

if TYPE_CHECKING:
    from ..stats.call_stacks import StackTree


class Weight(Enum):
    """What the width of a box means; a member's value is the word in the window."""

    SELF = "Self time"
    CALLS = "Calls"
    COUNTER = "Counter"  # only where StackTree.counter names one


class FlameBoxes(NamedTuple):
    """Boxes sorted by depth, then from left to right, as int64 arrays of equal length.

    A box reaches from `begin` to `begin` + `total`.  `total` is the box's own weight plus the
    weights of all boxes above it.  `parent` is the index of the box below; -1 = none.  `function`
    is an index of `names`.
    """

    names: tuple[str, ...]
    layers: tuple[str, ...]  # of the functions `names`
    depth: Int64s
    begin: Int64s
    total: Int64s
    parent: Int64s
    function: Int64s
    self_ns: Int64s
    calls: Int64s
    counted: Int64s

    @property
    def levels(self) -> int:
        """Return the number of levels, which is 1 plus the largest depth."""
        return int(self.depth[-1]) + 1 if len(self.depth) else 0

    @property
    def whole(self) -> int:
        """Return the width of the whole graph, in units of weight."""
        return int(self.total[self.depth == 0].sum())

    def box_at(self, depth: int, place: float) -> int:
        """Return the index of the box at a depth and a horizontal position; -1 = none.

        `place` is the position, in units of weight from the left.
        """
        low, high = np.searchsorted(self.depth, [depth, depth + 1])
        found = int(low + np.searchsorted(self.begin[low:high], place, side="right")) - 1
        inside = low <= found and place < self.begin[found] + self.total[found]
        return found if inside else -1

    def stack(self, box: int) -> tuple[str, ...]:
        """Return the functions of a box's call stack, the outermost function first."""
        found: list[str] = []
        while box >= 0:
            found.append(self.names[int(self.function[box])])
            box = int(self.parent[box])
        return tuple(reversed(found))


def flame_boxes(tree: StackTree, weight: Weight) -> FlameBoxes:
    """Return the boxes of those stacks in `tree` that have a width above 0.

    The width of a box is the `weight` of its stack plus the weights of all stacks above it.
    """
    weights = {Weight.SELF: tree.self_ns, Weight.CALLS: tree.calls, Weight.COUNTER: tree.counted}
    own = weights[weight]
    total = _totals(tree, own)
    rank = np.argsort(np.argsort(np.array(tree.names, dtype=np.str_), kind="stable"))
    begin = np.zeros(len(own), np.int64)
    parts: list[Int64s] = []
    for nodes in tree.levels():
        nodes = nodes[total[nodes] > 0]
        above = tree.parent[nodes]
        start = np.where(above >= 0, begin[np.maximum(above, 0)], 0)
        order = np.lexsort((rank[tree.function[nodes]], start, above))
        order = order[np.argsort(start[order], kind="stable")]
        nodes, above, start = nodes[order], above[order], start[order]
        before = np.cumsum(total[nodes]) - total[nodes]
        first = np.r_[True, above[1:] != above[:-1]][: len(nodes)]
        base = before[np.maximum.accumulate(np.where(first, np.arange(len(nodes)), 0))]
        begin[nodes] = start + before - base
        parts.append(nodes)
    return _boxes(tree, parts, begin, total)


def _boxes(tree: StackTree, parts: list[Int64s], begin: Int64s, total: Int64s) -> FlameBoxes:
    nodes = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    place = np.full(len(begin) + 1, -1, np.int64)  # the last one is the parent of outermost stacks
    place[nodes] = np.arange(len(nodes))
    return FlameBoxes(
        tree.names,
        tuple(layer_of(name) for name in tree.names),
        np.repeat(np.arange(len(parts)), [len(part) for part in parts]),
        begin[nodes],
        total[nodes],
        place[tree.parent[nodes]],
        tree.function[nodes],
        tree.self_ns[nodes],
        tree.calls[nodes],
        tree.counted[nodes],
    )


def _totals(tree: StackTree, own: Int64s) -> Int64s:
    """Return for each node its weight plus the weights of all nodes above it."""
    total = own.copy()
    for nodes in reversed(tree.levels()[1:]):
        np.add.at(total, tree.parent[nodes], total[nodes])
    return total

# SPDX-License-Identifier: MIT
"""Call stacks of two recordings with the self time in each: a differential flame graph."""

from __future__ import annotations

from typing import NamedTuple

from ..stats import Scope, Stack, call_stacks
from .leg_directions import own_passes


class StackPair(NamedTuple):
    """A call stack with its self time (ns) in each recording; 0 = the recording does not have it.

    `a_ns` is scaled to the number of passes in the second recording; copies for sniffers do not
    count as passes.
    """

    functions: tuple[str, ...]
    a_ns: int
    b_ns: int


def stack_pairs(a: Scope, b: Scope) -> list[StackPair]:
    """Return the call stacks of both recordings; the stacks that `b` has come first.

    Raises Cancelled.
    """
    passes = [int(own_passes(one).sum()) for one in (a, b)]
    ours = {stack.functions: stack.self_ns for stack in call_stacks(a)}
    theirs = {stack.functions: stack.self_ns for stack in call_stacks(b)}
    scale = passes[1] / passes[0] if all(passes) else 1.0
    names = dict.fromkeys([*theirs, *ours])
    return [StackPair(n, round(ours.get(n, 0) * scale), theirs.get(n, 0)) for n in names]


def sides(pairs: list[StackPair]) -> tuple[list[Stack], list[Stack]]:
    """Return two lists: the stacks that took time in the first recording, and in the second one."""
    first = [Stack(pair.functions, pair.a_ns) for pair in pairs if pair.a_ns]
    return first, [Stack(pair.functions, pair.b_ns) for pair in pairs if pair.b_ns]

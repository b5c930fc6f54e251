# SPDX-License-Identifier: MIT
"""What is to be assigned, and in which order: packets of a file to tap moments.

In: pairs of packets and moments, the packets' times.  Out: a Problem (forced_lifetimes.py) for the
order that the file has, and what its consistent assignments give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...records import Packets
from ...records.types import Bools, Int64s
from ..candidates.eligible_moments import Edges
from ..clock.agreeing_devices import ANY_TIME, CALLED, CAME, TIMED, WINDOWS
from ..clock.capture_point_fit import Located
from .forced_lifetimes import Assigned, Problem, assign
from .packet_groups import CROWDED, EXACT, NONE_IN_TIME

if TYPE_CHECKING:
    from ..model import KernelSide

NO_MOMENT = -1
OFFSET_BITS = 14  # of fragments
FAR_NS = 1 << 62


def problem_for(
    kernel: KernelSide,
    at: Int64s,
    error: Int64s,
    may_lack: Bools,
    edges: Edges,
    parts: Int64s,
    order: int | None,
) -> tuple[Int64s, Problem]:
    """The moments that any packet may have been captured at, and what is to be decided of them.

    `parts` are offsets of fragments, which may all be of one skb: each has a moment of its own.
    `order` is by which of WINDOWS the file is in order; None: by none.
    """
    numbers, moment = _numbered(edges.moment, parts, len(kernel.moments))
    rows = {name: kernel.moments.part(name, numbers) for name in TIMED}
    life, after, before = (rows[name].astype(np.int64) for name in ("series", "after", "before"))
    begin, end = (one.astype(np.int64) for one in WINDOWS[order or CALLED](rows))
    packet = edges.packet
    made = Problem(at, error, may_lack, life, after, before, begin, end, packet, moment)
    return numbers, _unordered(made) if order is None else made


def _numbered(moments: Int64s, parts: Int64s, size: int) -> tuple[Int64s, Int64s]:
    """The moments that are there, one for each part, in their order; the number of each pair's."""
    if parts.any():
        keys, number = np.unique(moments << OFFSET_BITS | parts, return_inverse=True)
        return keys >> OFFSET_BITS, number.reshape(-1).astype(np.int64)
    there = np.zeros(size, np.bool_)
    there[moments] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[moments]


def orders_of(packets: Packets, where: Located) -> tuple[int, ...]:
    """By which of WINDOWS the file may be in order, the closest first.

    It is in the order of the socket's calls, or was sorted by its packets' times since.  These may
    be made in some of the calls and on arrival before others, as while ping runs: then packets
    contradict the closer windows, and only the widest are sure.
    """
    is_sorted = not (np.diff(packets["ts"]) < 0).any()
    return tuple(range(where.stamped, ANY_TIME + 1)) if is_sorted else (CALLED,)


def first_consistent(
    orders: tuple[int | None, ...], problem_of: Callable[[int | None], tuple[Int64s, Problem]]
) -> tuple[Int64s, Problem, Assigned]:
    """What the first of these orders gives that no packet contradicts, else the last one."""
    *closer, last = orders
    for order in closer:
        numbers, problem = problem_of(order)
        if not _refuted(problem):
            made = assign(problem)
            if order != CAME or not (made.why == CROWDED).any():
                return numbers, problem, made
    numbers, problem = problem_of(last)
    return numbers, problem, assign(problem)


def _refuted(problem: Problem) -> bool:
    """Whether a packet was stamped outside the windows of all its moments."""
    packet, moment, size = problem.packet, problem.moment, len(problem.at)
    early = problem.at[packet] + problem.error[packet] < problem.begin[moment]
    late = problem.at[packet] - problem.error[packet] > problem.end[moment]
    inside = np.zeros(size, np.bool_)
    inside[packet[~early & ~late]] = True
    return bool((~inside[packet] & ~problem.may_lack[packet]).any())


def _unordered(problem: Problem) -> Problem:
    """Without the order of the packets: nothing of this host ordered them."""
    size = len(problem.life)
    return problem._replace(begin=np.full(size, -FAR_NS), end=np.full(size, FAR_NS))


def each_alone(problem: Problem, made: Assigned) -> Assigned:
    """Exact is only a packet whose moments are of one lifetime, and which no other packet may have.

    For captures that hold packets of several taps, or packets twice.
    """
    size, count = len(problem.at), len(problem.life)
    life = problem.life[problem.moment]
    low, high = np.full(size, FAR_NS), np.full(size, -1, np.int64)
    np.minimum.at(low, problem.packet, life)
    np.maximum.at(high, problem.packet, life)
    taken = np.bincount(problem.moment, minlength=count)
    shared = np.zeros(size, np.bool_)
    shared[problem.packet[taken[problem.moment] > 1]] = True
    exact = (low == high) & ~shared & ~problem.may_lack
    exact &= (made.why != NONE_IN_TIME) & (made.why != CROWDED)
    why = np.where(exact, EXACT, np.where(made.why == EXACT, CROWDED, made.why))
    only = np.bincount(problem.packet, minlength=size) == 1
    moment = np.full(size, NO_MOMENT)
    moment[problem.packet] = problem.moment
    moment = np.where(exact & only, moment, NO_MOMENT)
    every = np.ones(len(problem.packet), np.bool_)
    return made._replace(
        life=np.where(exact, low, -1), moment=moment, why=why.astype(np.int8), possible=every
    )

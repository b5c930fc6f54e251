# SPDX-License-Identifier: MIT
"""State which packets of a file are to be assigned to which tap moments, and in which order.

Input: pairs of packets and moments, and the packets' times.  Output: a Problem
(forced_lifetimes.py) with the order of the file, and the result that all its consistent assignments
have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...records import Packets
from ...records.types import Bools, Int64s
from ..candidates.tap_moment_conditions import Edges
from ..clock.capture_point_fit import Located
from ..clock.possible_capture_devices import ANY_TIME, CALLED, CAME, TIMED, WINDOWS
from .forced_lifetimes import Assigned, Problem, assign
from .packet_group_loops import CROWDED, EXACT, NONE_IN_TIME

if TYPE_CHECKING:
    from ..match_types import KernelSide

NO_MOMENT = -1
OFFSET_BITS = 14  # bits of a fragment's offset
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
    """Return the moments at which packets may have been captured, and the problem to solve.

    The result has each moment that is possible for at least one packet, as a row number of
    `kernel.moments`.  By packet: `at` is the packet's time on the log's clock (ns), `error` the
    clock's possible error at that time (ns), and `may_lack` whether the log may lack the packet's
    moment.  `edges` are the possible pairs.  By pair, `parts` are the offsets of fragments: all
    fragments may have one skb, so each offset has a moment of its own.  `order` is an index of
    WINDOWS, by which the file is sorted; None if the file is not sorted.
    """
    numbers, moment = _numbered(edges.moment, parts, len(kernel.moments))
    rows = {name: kernel.moments.part(name, numbers) for name in TIMED}
    life, after, before = (np.asarray(rows[n], np.int64) for n in ("series", "after", "before"))
    begin, end = (np.asarray(one, np.int64) for one in WINDOWS[order or CALLED](rows))
    packet = edges.packet
    made = Problem(at, error, may_lack, life, after, before, begin, end, packet, moment)
    return numbers, _unordered(made) if order is None else made


def _allowing_each_pair(problem: Problem) -> Problem:
    """Return the problem with windows so wide that each contains the times of all its packets.

    A CPU may stop between an skb's arrival and its stamp.  A packet that was stamped late does not
    fit the narrow window of its own moment, but may fit that of a different lifetime.
    """
    packet, moment = problem.packet, problem.moment
    early, late = _outside(problem)
    begin, end = problem.begin.copy(), problem.end.copy()
    first = (problem.at - problem.error)[packet[early]]
    last = (problem.at + problem.error)[packet[late]]
    np.minimum.at(begin, moment[early], np.maximum(first, problem.after[moment[early]]))
    np.maximum.at(end, moment[late], np.minimum(last, problem.before[moment[late]]))
    return problem._replace(begin=begin, end=end)


def _numbered(moments: Int64s, parts: Int64s, size: int) -> tuple[Int64s, Int64s]:
    """Return the moments that occur, sorted, and for each pair the index of its moment among them.

    A moment is listed once for each part.
    """
    if parts.any():
        keys, number = np.unique(moments << OFFSET_BITS | parts, return_inverse=True)
        return keys >> OFFSET_BITS, number.reshape(-1).astype(np.int64)
    there = np.zeros(size, np.bool_)
    there[moments] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[moments]


def orders_of(packets: Packets, where: Located) -> tuple[int, ...]:
    """Return the WINDOWS by which the file may be sorted, the narrowest first.

    A file is in the order of the socket's calls, unless it was sorted by time afterwards.  Its
    times may be those of the calls for some packets and those of their arrival for others, for
    example while ping runs.  Then packets contradict the narrow windows, and only the widest ones
    are certain.
    """
    is_sorted = not (np.diff(packets["ts"]) < 0).any()
    return tuple(range(where.stamped, ANY_TIME + 1)) if is_sorted else (CALLED,)


def first_consistent(
    orders: tuple[int | None, ...], problem_of: Callable[[int | None], tuple[Int64s, Problem]]
) -> tuple[Int64s, Problem, Assigned]:
    """Solve with the first of `orders` that no packet contradicts, or else with the last.

    `problem_of` returns the moments and the problem for an order.  Returns the moments, the problem
    and its solution.
    """
    *closer, last = orders
    for order in closer:
        numbers, problem = problem_of(order)
        if not _refuted(problem):
            problem = _allowing_each_pair(problem)
            made = assign(problem)
            if order != CAME or not (made.why == CROWDED).any():
                return numbers, problem, made
    numbers, problem = problem_of(last)
    return numbers, problem, assign(problem)


def _refuted(problem: Problem) -> bool:
    """Return whether a packet was stamped outside the windows of all its moments."""
    packet, (early, late) = problem.packet, _outside(problem)
    inside = np.zeros(len(problem.at), np.bool_)
    inside[packet[~early & ~late]] = True
    return bool((~inside[packet] & ~problem.may_lack[packet]).any())


def _outside(problem: Problem) -> tuple[Bools, Bools]:
    """Return two masks of pairs: the packet was stamped before, or after, the moment's window."""
    packet, moment = problem.packet, problem.moment
    early = problem.at[packet] + problem.error[packet] < problem.begin[moment]
    late = problem.at[packet] - problem.error[packet] > problem.end[moment]
    return early, late


def _unordered(problem: Problem) -> Problem:
    """Return the problem without an order of packets, for files that this host did not write."""
    size = len(problem.life)
    return problem._replace(begin=np.full(size, -FAR_NS), end=np.full(size, FAR_NS))


def each_alone(problem: Problem, made: Assigned) -> Assigned:
    """Return the solution `made` in which only packets without a rival are exact.

    A packet has no rival if its moments have one lifetime, and no other packet may have these
    moments.  `made` is the solution of `problem` in the order of the file.  That order is not used
    for captures that contain packets of several taps, or packets twice.
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

# SPDX-License-Identifier: MIT
"""Make the problem of assigning a file's packets to tap moments in the order of the file.

Input: possible pairs of packets and tap moments, and the times of the packets.  Output: a Problem
(forced_lifetimes.py), and what all its consistent assignments have in common.
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

    The moments are row numbers of `kernel.moments`; each one is possible for at least one packet.
    By packet: `at` is the packet's time on the log's clock (ns), `error` the clock's possible error
    at that time (ns), and `may_lack` whether the log may lack the packet's moment.  `edges` are the
    possible pairs of packets and moments.  By pair: `parts` is the fragment offset of the packet.
    All fragments of a packet may be in one skb, so each fragment offset has a moment of its own.
    `order` is the index in WINDOWS of the times by which the file is sorted, or None if it is not
    sorted.
    """
    numbers, moment = _numbered(edges.moment, parts, len(kernel.moments))
    rows = {name: kernel.moments.part(name, numbers) for name in TIMED}
    life, after, before = (np.asarray(rows[n], np.int64) for n in ("series", "after", "before"))
    begin, end = (np.asarray(one, np.int64) for one in WINDOWS[order or CALLED](rows))
    packet = edges.packet
    made = Problem(at, error, may_lack, life, after, before, begin, end, packet, moment)
    return numbers, _unordered(made) if order is None else made


def _allowing_each_pair(problem: Problem) -> Problem:
    """Return the problem with each moment's window so wide that it contains all its packets' times.

    A CPU may be stopped between an skb's arrival and its time stamp.  If the CPU was stopped, the
    time stamp is too late for the narrow window of the packet's own moment, but may fit into the
    window of a different lifetime.
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
    """Return the distinct moments of all pairs, sorted, and for each pair the index of its moment.

    A moment that several fragments may have is listed once for each fragment offset.
    """
    if parts.any():
        keys, number = np.unique(moments << OFFSET_BITS | parts, return_inverse=True)
        return keys >> OFFSET_BITS, number.reshape(-1).astype(np.int64)
    there = np.zeros(size, np.bool_)
    there[moments] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[moments]


def orders_of(packets: Packets, where: Located) -> tuple[int, ...]:
    """Return the indices of WINDOWS by which the file may be sorted, the narrowest windows first.

    A file has its packets in the order in which the packet socket got them, if nobody has sorted it
    by time.  Some packets may be stamped in the socket's call and others on arrival, for example
    while ping runs.  If a file has stamps of both kinds (made in the socket's call, or on arrival),
    some packets do not fit into narrow windows, and only the widest windows are certain.
    """
    is_sorted = not (np.diff(packets["ts"]) < 0).any()
    return tuple(range(where.stamped, ANY_TIME + 1)) if is_sorted else (CALLED,)


def first_consistent(
    orders: tuple[int | None, ...], problem_of: Callable[[int | None], tuple[Int64s, Problem]]
) -> tuple[Int64s, Problem, Assigned]:
    """Solve the problem of the first order that no packet contradicts, or else of the last order.

    `problem_of` returns the moments and the problem for one of `orders`.  Returns the moments, the
    problem and its solution.
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
    """Return whether some packet was stamped outside all windows of its possible moments."""
    packet, (early, late) = problem.packet, _outside(problem)
    inside = np.zeros(len(problem.at), np.bool_)
    inside[packet[~early & ~late]] = True
    return bool((~inside[packet] & ~problem.may_lack[packet]).any())


def _outside(problem: Problem) -> tuple[Bools, Bools]:
    """Return two masks of pairs: the packet was stamped before the moment's window, or after it."""
    packet, moment = problem.packet, problem.moment
    early = problem.at[packet] + problem.error[packet] < problem.begin[moment]
    late = problem.at[packet] - problem.error[packet] > problem.end[moment]
    return early, late


def _unordered(problem: Problem) -> Problem:
    """Return the problem with packets in any order, for files that this host did not write."""
    size = len(problem.life)
    return problem._replace(begin=np.full(size, -FAR_NS), end=np.full(size, FAR_NS))


def each_alone(problem: Problem, made: Assigned) -> Assigned:
    """Return the solution `made`, but only packets without a rival stay exact.

    A packet has no rival if all its moments belong to one lifetime, and no other packet may have
    any of these moments.  `made` is the solution of `problem` in the order of the file.  The order
    of the file proves nothing if the capture contains packets of several taps, or packets twice.
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

# SPDX-License-Identifier: MIT
"""Find legs that may lack a call because a probe missed the call.

Input: a KBL, its legs and calls, and the windows of time in which probes missed calls.  Output: a
flag for each leg.  During a window there are hundreds of legs, but often a probe missed only a
single call.  So a leg is suspected only if other legs have its calls and, in addition, calls that
may have been missed in the window.  At least as many legs must have these additional calls as have
exactly the calls of the suspected leg.  The same test is applied to whole lifetimes, because all
calls of a leg may have been missed.
"""

from __future__ import annotations

import numpy as np

from ...matching import LegTable
from ...matching.legs.declared_losses import ANY, MISSED, losses_declared_by
from ...records import KernelLog
from ...records.types import Bools, Int64s
from ..calls.call_table import CallTable
from ..calls.record_loss_times import Spans
from .missed_probe_hit_loops import Bags, Windows, add_calls, suspect
from .open_ended_leg_loops import CLOSE_NS

LIKELY = 1000  # number of bags of calls, the most frequent ones, with which legs are compared
UNLIMITED = np.iinfo(np.int64).max


def windows_of(log: KernelLog) -> Windows:
    """Return the windows of time in which probes missed calls, with the functions of these calls.

    If the function of a missed call is unknown, any function may have been missed.
    """
    rows = losses_declared_by(log)
    rows = rows[(rows["reason"] == MISSED) & (rows["count"] > 0)]
    functions = max(log.probes, default=-1) + 1
    rows = rows[(rows["func"] >= ANY) & (rows["func"] < functions)]
    every = rows[rows["func"] == ANY]
    rest = rows[rows["func"] != ANY]
    wide = np.repeat(every, functions)
    wide["func"] = np.tile(np.arange(functions), len(every))
    rows = np.concatenate([rest, wide])
    rows = rows[np.lexsort((rows["last_ns"], rows["first_ns"]))]
    times = np.stack([rows["first_ns"], rows["last_ns"]], axis=1)
    new = np.flatnonzero(np.r_[True, (times[1:] != times[:-1]).any(axis=1)][: len(rows)])
    return Windows(
        times[new, 0].copy(),
        times[new, 1].copy(),
        np.r_[new, len(rows)].astype(np.int64),
        rows["func"].astype(np.int64),
        rows["count"].astype(np.int64),
    )


def may_lack(
    log: KernelLog, windows: Windows, legs: LegTable, last: Int64s, calls: CallTable
) -> Bools:
    """Return for each leg whether it may lack a call that a probe missed in one of `windows`.

    `last` is the time (ns) at which the last call of each leg returned.  Legs are compared twice:
    with the number of calls of each function, and with each function counted once.  The second
    comparison is for calls in a loop, because perhaps no other leg has the same number of these
    calls.
    """
    begin = np.asarray(legs.rows["begin_ns"], np.int64)
    found = np.zeros(len(begin), np.bool_)
    if not len(windows.first) or not len(begin):
        return found
    leg, kind = np.arange(len(begin)), np.asarray(legs.rows["kind"], np.int64)
    series = np.asarray(legs.rows["series"])
    first = np.flatnonzero(np.r_[True, series[1:] != series[:-1]])
    life = np.repeat(np.arange(len(first)), np.diff(np.r_[first, len(series)]))
    begins, ends = np.minimum.reduceat(begin, first), np.maximum.reduceat(last, first)
    for once in (False, True):
        bags = _bags(log, leg, kind, calls, once)
        found |= _suspects(windows, bags, begin, last)
        bags = _bags(log, life, np.zeros(len(first), np.int64), calls, once)
        found |= _suspects(windows, bags, begins, ends)[life] & near(windows, begin, last)
    return found


def near(windows: Windows, begin: Int64s, last: Int64s) -> Bools:
    """Return whether each span from `begin` to `last` (ns) is at most CLOSE_NS from a window."""
    spans = Spans(list(zip(windows.first.tolist(), windows.last.tolist(), strict=True)))
    return spans.meet(*_reach(begin, last))


def _reach(begin: Int64s, last: Int64s) -> tuple[Int64s, Int64s]:
    """Return the times extended by CLOSE_NS, because missing calls may be before or after them."""
    return begin - CLOSE_NS, last + CLOSE_NS


def _suspects(windows: Windows, bags: Bags, begin: Int64s, last: Int64s) -> Bools:
    """Return for each leg or lifetime whether it may lack a call; `bags` has their calls."""
    found = np.zeros(len(begin), np.bool_)
    begin, last = _reach(begin, last)
    order = np.argsort(begin, kind="stable")
    likely = np.argsort(-bags.legs, kind="stable")[:LIKELY]
    functions = len(bags.of_func)
    suspect(
        windows,
        bags,
        order,
        begin[order],
        last[order],
        np.maximum.accumulate(last[order]),
        likely,
        np.zeros(len(likely), np.uint64),
        np.zeros(functions, np.int64),
        np.zeros(functions, np.int64),
        np.full(len(bags.legs), -1, np.int64),
        found,
    )
    return found


def _bags(log: KernelLog, unit: Int64s, kind: Int64s, calls: CallTable, once: bool) -> Bags:
    """Return the bag of calls of each unit, which is a leg or consists of consecutive legs.

    `unit` is the unit of each leg, and `kind` the kind of each unit.  With `once`, several calls of
    a function count as one.
    """
    functions = max(log.probes, default=-1) + 1
    numbers = np.random.default_rng(1).integers(1, 1 << 63, functions + 256, np.uint64)
    of_func, sums = numbers[:functions].copy(), numbers[functions:][kind]
    many, met = np.zeros(len(sums) + 1, np.int64), np.full(functions, -1, np.int64)
    for rows in calls.passing():
        own = unit[calls.part("leg", rows)].astype(np.int64)
        add_calls(own, calls.part("func", rows).astype(np.int64), once, of_func, met, sums, many)
    hash_, lone, of, count = np.unique(
        sums, return_index=True, return_inverse=True, return_counts=True
    )
    at, func, most = _contents(calls, np.cumsum(many), lone, functions)
    most = np.minimum(most, 1) if once else most
    of = of.astype(np.int64).ravel()
    return Bags(of, count.astype(np.int64), hash_, at, func, most, of_func)


def _contents(
    calls: CallTable, places: Int64s, lone: Int64s, functions: int
) -> tuple[Int64s, Int64s, Int64s]:
    """Return the arrays `at`, `func` and `most` (see Bags) for the bags of the units `lone`.

    `places` are the rows at which the calls of each unit begin.
    """
    size = places[lone + 1] - places[lone]
    bag = np.repeat(np.arange(len(lone)), size)
    inside = np.arange(len(bag)) - np.repeat(np.cumsum(size) - size, size)
    func = calls.part("func", places[lone][bag] + inside).astype(np.int64)
    known = (func >= 0) & (func < functions)
    key, most = np.unique(bag[known] * functions + func[known], return_counts=True)
    at = np.searchsorted(key, np.arange(len(lone) + 1) * functions)
    return at.astype(np.int64), key % functions, most.astype(np.int64)

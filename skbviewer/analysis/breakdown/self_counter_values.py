# SPDX-License-Identifier: MIT
"""The events that the hardware counter counted in each call itself, without the calls inside it.

Input: a Scope.  Output: events by call.  A log counts one event, and a call's count contains those
of the calls inside it, as its duration contains theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...records.types import Bools, Int64s

if TYPE_CHECKING:
    from ..scope import Scope

META = "counter"  # what the recorder was asked to count
UNKNOWN = -1


def counter_name(scope: Scope) -> str:
    """Return the event that all logs with a counter counted; "" if there is none, or several."""
    metas = (kernel.names.meta.get(META, "") for kernel in scope.kernels.values())
    names = {name for name in metas if name not in ("", "off")}
    return names.pop() if len(names) == 1 else ""


def own_counts(scope: Scope) -> Int64s:
    """Return the events that the counter counted in each chosen call, without the calls inside it.

    A call inside is subtracted whether it is chosen or not.  UNKNOWN if the call, or a call inside
    it, has no count.  Raises Cancelled.
    """
    every = scope.unlimited
    count = np.asarray(scope.columns.array("call", META), np.int64)
    rows = np.flatnonzero(every.calls)[every.once]
    parent = np.asarray(scope.columns.array("call", "parent"), np.int64)[rows] - 1
    rows, parent = rows[parent >= 0], parent[parent >= 0]
    first = _first_rows(every)
    around = first[parent]  # the row of the call around it that counts
    own, unknown = count.copy(), count < 0
    np.subtract.at(own, around, np.maximum(count[rows], 0))
    unknown[around[count[rows] < 0]] = True
    own = np.where(unknown, UNKNOWN, np.maximum(own, 0))
    return np.asarray(own[first][scope.calls], np.int64)


def _first_rows(scope: Scope) -> Int64s:
    """Return for each call of the session the row under which this call counts (Scope.once)."""
    found = np.arange(scope.columns.length("call"))
    rows = np.flatnonzero(scope.calls)
    again = rows[~scope.once]
    if not len(again):
        return found
    entry = np.asarray(scope.columns.array("call", "entry_ns"), np.int64)
    rows = rows[np.isin(entry[rows], entry[again])]
    counts: Bools = np.isin(rows, again, invert=True)
    leg = np.asarray(scope.columns.array("call", "leg"), np.int64)[rows] - 1
    keys = [scope.of_leg("source")[leg], entry[rows]]
    for name in ("func", "cpu", "pid"):
        keys.append(np.asarray(scope.columns.array("call", name), np.int64)[rows])
    order = np.lexsort([~counts, *keys])
    differs = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    begin = np.flatnonzero(np.r_[True, differs])
    group = np.repeat(begin, np.diff(np.r_[begin, len(order)]))
    found[rows[order]] = rows[order][group]
    return found


def probe_counts(scope: Scope) -> Int64s:
    """Return the events that the probes added to the result of own_counts() of each chosen call.

    NetSlice's formula for events, N = N' - n_empty - K * n_nested, holds for a call with all K
    probed calls inside it.  Without those calls, n_empty + c * (n_nested - n_empty) remains, with c
    the calls directly inside.  Calls inside that belong to no packet are not known here.  0 if
    the recorder did not measure its probes with this counter.  Raises Cancelled.
    """
    every = scope.unlimited
    source = np.asarray(every.of_leg("source"), np.int64)
    leg = np.asarray(scope.columns.array("call", "leg"), np.int64) - 1
    has_skb = np.asarray(scope.columns.array("call", "skb"), np.int64) != 0
    empty, nested = _costs(scope, "empty"), _costs(scope, "nested")
    own = empty[source[leg], has_skb.astype(np.int64)]
    inside = nested[source[leg], has_skb.astype(np.int64)] - own
    rows = np.flatnonzero(every.calls)[every.once]
    parent = np.asarray(scope.columns.array("call", "parent"), np.int64)[rows] - 1
    rows, parent = rows[parent >= 0], parent[parent >= 0]
    first = _first_rows(every)
    made = own.copy()
    np.add.at(made, first[parent], inside[rows])
    return np.asarray(made[first][scope.calls], np.int64)


def _costs(scope: Scope, name: str) -> Int64s:
    """Return the events that a probe costs, by source of its log: without and with a packet."""
    made = np.zeros((max(scope.kernels, default=0) + 1, 2), np.int64)
    for source, kernel in scope.kernels.items():
        for at, key in enumerate((f"calibration.n_{name}", f"calibration.n_skb_{name}")):
            text = kernel.names.meta.get(key, "")
            made[source, at] = int(text) if text.isdecimal() else 0
    return made

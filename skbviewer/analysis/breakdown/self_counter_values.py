# SPDX-License-Identifier: MIT
"""Events of a hardware counter in each call, without the events in the calls inside it.

Input: a Scope.  Output: the number of events in each call.  In one log, all counts are of one kind
of event.  The count of a call contains the counts of the calls inside it, just as its duration
contains their durations.
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
    """Return the name of the event that the logs counted; "" if none did, or if they differ."""
    metas = (kernel.names.meta.get(META, "") for kernel in scope.kernels.values())
    names = {name for name in metas if name not in ("", "off")}
    return names.pop() if len(names) == 1 else ""


def own_counts(scope: Scope) -> Int64s:
    """Return the events that the counter counted in each chosen call, without the calls inside it.

    The counts of inner calls are subtracted even if these calls are not chosen.  The result is
    UNKNOWN if the call, or a call directly inside it, has no count.  Raises Cancelled.
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
    """Return for each row of table `call` the one row that counts for the row's call."""
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
    """Return how many of each chosen call's events in own_counts() were caused by probes.

    NetSlice's formula for events, N = N' - n_empty - K * n_nested, holds for a call with all K
    probed calls inside it.  After the counts of inner calls are subtracted, what remains is
    n_empty + c * (n_nested - n_empty), where c is the number of calls directly inside.  c does not
    include inner calls that belong to no packet.  The result is 0 if the recorder did not measure
    its probes with this counter.  Raises Cancelled.
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
    """Return by source how many events one probe adds to a call without and with a packet."""
    made = np.zeros((max(scope.kernels, default=0) + 1, 2), np.int64)
    for source, kernel in scope.kernels.items():
        for at, key in enumerate((f"calibration.n_{name}", f"calibration.n_skb_{name}")):
            text = kernel.names.meta.get(key, "")
            made[source, at] = int(text) if text.isdecimal() else 0
    return made

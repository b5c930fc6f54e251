# SPDX-License-Identifier: MIT
"""Which programs sent or received packets: `skbviewer stats processes`.

A packet belongs to the process in whose calls (task context) it was sent or read (Lee et al.).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .duration_spread import spreads
from .scope import Scope


class ProcessRow(NamedTuple):
    """One program name on one host.  `number` counts calls, `legs` counts legs; times are ns."""

    process: str
    host: int  # source id of the KBL
    legs: int
    number: int
    total_ns: int  # self time of its calls
    mean_ns: int
    p50_ns: int
    p95_ns: int
    p99_ns: int
    max_ns: int


def process_rows(scope: Scope) -> list[ProcessRow]:
    """Programs by the time that their packets' calls took, in the thread's own context.

    Calls of legs whose records may have been lost are left out.
    """
    own, leg, pid = scope.own_ns, scope.leg_of_call, scope.of_call("pid")
    known = (own >= 0) & ~scope.gaps[leg]
    mine = np.flatnonzero((scope.of_call("context") == 0) & (pid > 0) & known)
    own, leg, pid, once = own[mine], leg[mine], pid[mine], scope.once[mine]
    source = scope.of_leg("source")[leg]
    keys, group = np.unique(np.stack([source, pid], axis=1), axis=0, return_inverse=True)
    names = [
        (number, scope.kernels[number].names.tasks.get(thread, f"thread {thread}"))
        for number, thread in keys.tolist()
    ]
    programs = sorted(set(names))
    place = np.array([programs.index(name) for name in names], np.int64)
    group = place[group.reshape(-1)] if len(place) else np.zeros(0, np.int64)
    found = spreads(group[once], own[once], len(programs))
    legs = np.unique(np.stack([group, leg], axis=1), axis=0)
    ways = np.bincount(legs[:, 0], minlength=len(programs))
    rows = [
        ProcessRow(name, host, int(ways[at]), *found[at])
        for at, (host, name) in enumerate(programs)
    ]
    return sorted(rows, key=lambda row: (-row.total_ns, row.process))

# SPDX-License-Identifier: MIT
"""The programs that sent or received packets: `skbviewer stats processes`.

A packet belongs to the process whose calls, in task context, sent or read it (Lee et al.).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ...records.compiled import compiled
from ...records.types import Bools, Int64s
from ..parallel_blocks import each_made
from ..scope import Scope
from ..scope.chosen_call_blocks import CallBlock, call_blocks
from .duration_percentiles import spreads

DENSE = 1 << 24  # keys below this are numbered by a table instead of by sorting


class ProcessRow(NamedTuple):
    """All programs that have the same name on the same host.

    `number` is how many calls the program made, and `legs` is the number of legs in which the
    program made calls.  Times are in ns.
    """

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
    """Return a row for each program: the self times of the calls that its threads made for packets.

    Calls in legs whose records may have been lost are left out.
    """
    mine = own_calls(scope)
    once, programs = scope.once[mine.calls], mine.names
    own = scope.narrow("self_ns")[mine.calls[once]].astype(np.int64)
    found = spreads(mine.program[once], own, len(programs))
    ways = np.zeros(len(programs), np.int64)
    count_legs(mine.program, mine.leg, np.full(len(programs), -1, np.int64), ways)
    rows = [
        ProcessRow(name, host, int(ways[at]), *found[at])
        for at, (host, name) in enumerate(programs)
    ]
    return sorted(rows, key=lambda row: (-row.total_ns, row.process))


class OwnCalls(NamedTuple):
    """The calls that programs made in their own threads, in legs without lost records.

    `calls` are the calls, as indices of the chosen calls; `leg` is the leg of each.  `program` is
    the program of each call, as an index of `names`.  `names` are pairs of the KBL's source id and
    the program's name.
    """

    calls: Int64s
    leg: Int64s
    program: Int64s
    names: list[tuple[int, str]]


def own_calls(scope: Scope) -> OwnCalls:
    """Return the calls that programs made in their own threads and whose self time is known."""
    parts = each_made(partial(_own_of, scope.gaps), call_blocks(scope, "pid", "context", "self_ns"))
    none = np.zeros(0, np.int64)
    mine, leg, pid = (np.concatenate(each) for each in zip((none,) * 3, *parts, strict=True))
    most = int(pid.max(initial=0)) + 1
    keys, group = _numbered(scope.sources_of(leg) * most + pid)
    names = []
    for number, thread in (divmod(key, most) for key in keys.tolist()):
        name = scope.kernels[number].names.tasks.get(thread, f"thread {thread}")
        names.append((number, name))
    programs = sorted(set(names))
    place = np.array([programs.index(name) for name in names], np.int64)
    group = place[group] if len(place) else np.zeros(0, np.int64)
    return OwnCalls(mine, leg, group, programs)


def _own_of(gaps: Bools, block: CallBlock) -> tuple[Int64s, Int64s, Int64s]:
    """Return index (among chosen calls), leg and thread of the block's calls by programs."""
    pid, context, own = block.columns.values()
    mine = np.flatnonzero((context == 0) & (pid > 0) & (own >= 0) & ~gaps[block.leg])
    return block.first + mine, block.leg[mine], pid[mine]


@compiled
def count_legs(program: Int64s, leg: Int64s, last: Int64s, ways: Int64s) -> None:
    """Add to ways[p] the number of legs in which program p made calls.

    `program` and `leg` have an element for each call.  The calls of a leg must follow each other.
    `last` is scratch space with an element for each program, filled with -1.
    """
    for i in range(len(leg)):
        if last[program[i]] != leg[i]:
            last[program[i]] = leg[i]
            ways[program[i]] += 1


def _numbered(key: Int64s) -> tuple[Int64s, Int64s]:
    """Return the distinct keys, rising, and for each of `key` (at least 0) its index among them."""
    most = int(key.max(initial=0)) + 1
    if most > DENSE:
        keys, index = np.unique(key, return_inverse=True)
        return keys, np.asarray(index.reshape(-1), np.int64)
    used = np.zeros(most, np.bool_)
    used[key] = True
    return np.flatnonzero(used), np.asarray((np.cumsum(used) - 1)[key], np.int64)

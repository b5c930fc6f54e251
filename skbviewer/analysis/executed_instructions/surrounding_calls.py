# SPDX-License-Identifier: MIT
"""Find the call directly around each call: one of the same thread, or an interrupted call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from .kernel_log_calls import UNKNOWN, LogCalls

TASK = 0  # context


class Around(NamedTuple):
    """For each call, the row of the call directly around it; UNKNOWN if there is none.

    A call is `unclear` if the log does not show whether an interrupt came during this call or
    during a call of another thread.
    """

    row: Int64s
    unclear: Bools


def surrounding_calls(calls: LogCalls) -> Around:
    """Return the call directly around each of `calls`.

    A return without a recorded entry has no call around it, and is around no call.
    """
    rows = np.flatnonzero(calls.entry_ns != UNKNOWN)
    rows = rows[np.lexsort((calls.entry_ns[rows], calls.thread[rows]))]
    threads = np.split(rows, np.flatnonzero(np.diff(calls.thread[rows])) + 1)
    around = Around(
        np.full(len(calls.entry_ns), UNKNOWN, np.int64), np.zeros(len(calls.entry_ns), np.bool_)
    )
    for thread in threads:
        _nest(calls, thread, around.row)
    inside = around.row.copy()  # within threads only
    for context in np.unique(calls.context[rows]).tolist():
        outermost = (calls.context == context) & (inside == UNKNOWN)
        outermost &= calls.entry_ns != UNKNOWN
        _interrupted(calls, np.flatnonzero(outermost), threads, inside, around)
    return around


def _nest(calls: LogCalls, thread: Int64s, around: Int64s) -> None:
    """Set the calls around the calls of one thread, whose rows are in order of their entries."""
    entry, leave = calls.entry_ns[thread], calls.exit_ns[thread]
    returned = np.searchsorted(np.sort(leave), entry, side="right")
    depth = np.arange(len(thread)) - returned  # each earlier call that has not returned
    for level in range(1, int(depth.max(initial=0)) + 1):
        outer, inner = np.flatnonzero(depth == level - 1), np.flatnonzero(depth == level)
        around[thread[inner]] = thread[outer[np.searchsorted(outer, inner) - 1]]


def _interrupted(
    calls: LogCalls, wanted: Int64s, threads: list[Int64s], inside: Int64s, around: Around
) -> None:
    """Set the calls around the outermost calls of one context, whose rows are `wanted`.

    An interrupt is inside the innermost open call of the next lower context that has an open call.
    """
    if not len(wanted):
        return
    own = int(calls.context[wanted[0]])
    at = calls.entry_ns[wanted]
    for context in range(own - 1, TASK - 1, -1):
        number = np.zeros(len(wanted), np.int64)
        found = np.full(len(wanted), UNKNOWN, np.int64)
        candidates = []
        for thread in threads:
            if len(thread) and calls.context[thread[0]] == context:
                open_call = _open_call(calls, thread, inside, at)
                candidates.append(open_call)
                number += open_call != UNKNOWN
                found = np.where(open_call != UNKNOWN, open_call, found)
        left = around.row[wanted] == UNKNOWN
        around.row[wanted[left & (number == 1)]] = found[left & (number == 1)]
        for open_call in candidates:
            several = open_call[left & (number > 1)]
            around.unclear[several[several != UNKNOWN]] = True
        wanted, at = wanted[left & (number == 0)], at[left & (number == 0)]


def _open_call(calls: LogCalls, thread: Int64s, inside: Int64s, at: Int64s) -> Int64s:
    """Return the innermost open call of a thread at each time; UNKNOWN if no call was open."""
    last = np.searchsorted(calls.entry_ns[thread], at) - 1
    row = np.where(last >= 0, thread[last], UNKNOWN)
    while True:
        closed = (row != UNKNOWN) & (calls.exit_ns[row] < at)
        if not closed.any():
            return row
        row = np.where(closed, inside[row], row)

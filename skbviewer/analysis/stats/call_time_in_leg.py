# SPDX-License-Identifier: MIT
"""The part of each call's self time that is inside its packet's leg.

A system call that sends begins before the packet is made, and one that receives begins before the
packet arrives.  Its work or wait until then does not belong to the packet.
"""

from __future__ import annotations

import numpy as np

from ...matching import RX
from ...records.types import Int64s
from .scope import SOCK, Scope

TASK = 0  # context
SKB_IS_RET = 0x10  # kbl.h KBL_FLAG_SKB_IS_RET


def leg_time(scope: Scope) -> Int64s:
    """Return the self time of each chosen call within its leg, ns; -1 = unknown.

    Time is counted from the leg's begin or, for calls of the leg's reader, from the time when the
    reader has the packet.  No record shows in which part of a call that began earlier interrupts
    and other packets took their time.  So the result is the time left after that begin, but at most
    the call's self time.
    """
    entry, own = scope.of_call("entry_ns"), scope.own_ns
    since = _since(scope, entry)
    early = entry < since
    if not early.any():
        return own
    end = entry + np.maximum(scope.of_call("dur_ns"), 0)
    late = np.maximum(end - np.maximum(entry, since), 0)
    left, parent = late.copy(), scope.of_call("parent")
    place = np.cumsum(scope.calls) - 1  # index among the chosen calls
    inner = np.flatnonzero(parent > 0)
    inner = inner[early[place[parent[inner] - 1]]]
    np.subtract.at(left, place[parent[inner] - 1], late[inner])
    return np.where(early, np.minimum(own, np.maximum(left, 0)), own)


def _since(scope: Scope, entry: Int64s) -> Int64s:
    """Return for each chosen call the time (ns) from which on it has its packet.

    `entry` is the time at which the call began.
    """
    leg = scope.leg_of_call
    begin, reader = scope.of_leg("begin_ns")[leg], scope.of_leg("reader_ns")[leg]
    is_read = (scope.of_leg("kind")[leg] == RX) & (reader >= 0)
    flags = scope.of_call("flags")
    is_sock = (flags & SOCK != 0) & (scope.of_call("skb") == 0)
    reads = is_read & (is_sock | (flags & SKB_IS_RET != 0)) & (scope.of_call("context") == TASK)
    reads &= entry + np.maximum(scope.of_call("dur_ns"), 0) >= reader
    return np.where(reads, np.maximum(begin, reader), begin)

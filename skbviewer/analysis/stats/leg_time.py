# SPDX-License-Identifier: MIT
"""What of each call's own time lies in its packet's leg.

A system call that sends begins before the packet is made, and one that receives before it has come:
what it did until then, or that it waited, is not the packet's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...matching import RX
from .scope import SOCK, Scope

TASK = 0  # context
SKB_IS_RET = 0x10  # kbl.h KBL_FLAG_SKB_IS_RET

Index = npt.NDArray[np.int64]


def leg_time(scope: Scope) -> Index:
    """Own times since the leg begins or, of its reader's calls, since the reader has the packet.

    Of each chosen call, -1 where it is unknown.  Of what interrupts and other packets took of an
    early call nobody told when: of what is left of it no more counts than it has of its own.
    """
    entry, own = scope.of_call("entry_ns"), scope.own_ns
    since = _since(scope, entry)
    early = entry < since
    if not early.any():
        return own
    end = entry + np.maximum(scope.of_call("dur_ns"), 0)
    late = np.maximum(end - np.maximum(entry, since), 0)
    left, parent = late.copy(), scope.of_call("parent")
    place = np.cumsum(scope.calls) - 1  # among the chosen ones
    inner = np.flatnonzero(parent > 0)
    inner = inner[early[place[parent[inner] - 1]]]
    np.subtract.at(left, place[parent[inner] - 1], late[inner])
    return np.where(early, np.minimum(own, np.maximum(left, 0)), own)


def _since(scope: Scope, entry: Index) -> Index:
    """When each call's packet was there for it."""
    leg = scope.leg_of_call
    begin, reader = scope.of_leg("begin_ns")[leg], scope.of_leg("reader_ns")[leg]
    is_read = (scope.of_leg("kind")[leg] == RX) & (reader >= 0)
    flags = scope.of_call("flags")
    is_sock = (flags & SOCK != 0) & (scope.of_call("skb") == 0)
    reads = is_read & (is_sock | (flags & SKB_IS_RET != 0)) & (scope.of_call("context") == TASK)
    reads &= entry + np.maximum(scope.of_call("dur_ns"), 0) >= reader
    return np.where(reads, np.maximum(begin, reader), begin)

# SPDX-License-Identifier: MIT
"""Find the call on whose return an event was recorded, and the call that made a new skb.

Input: the records of a KBL, one by one.  Output: for each event, the ENTRY of the call on whose
return it was recorded, or -1.  An event belongs to a call if it has the time and the CPU of the
call's return, and if the function's probe records events of this kind.  When the function returns,
the skb may have been freed, or another thread may use it; so only the call shows to which lifetime
the event belongs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records import KernelLog
from ...records.kernel_events import AT_EXIT
from ...records.types import Int32s, Int64s, UInt8s
from ..arrays.pair_map import Cells, PairMap, has_no_room
from ..arrays.value_numbering import IntIndex, is_full, longer
from ..record_kinds import by_probe
from .call_of_event_loops import KINDS


class Calls(NamedTuple):
    """The state of owner_of() after the records so far.

    `cells` maps (exit_ts, exit_cpu, event) to a call, as long as the call may still be open.  By
    context (`keys`, `numbers`) and kind of birth: `maker` is the last call so far whose probe
    records such a birth, or -1.  `entered` is the time at which the call `maker` was entered.  By
    probe: `events` is the kind of event that the probe records.
    """

    events: UInt8s
    cells: Cells
    used: Int64s
    keys: Int64s
    numbers: Int32s
    contexts: Int64s
    maker: Int32s
    entered: Int64s


class EventOwners:
    """Holds the arrays that owner_of() needs, and enlarges them.

    Read `calls` again after each make_room(), which replaces the arrays.
    """

    def __init__(self, log: KernelLog) -> None:
        self._events = by_probe({p.id: p.event for p in log.probes.values() if p.event in AT_EXIT})
        self._contexts, self._pairs = IntIndex(), PairMap()
        self._maker, self._entered = np.zeros(0, np.int32), np.zeros(0, np.int64)
        self._enlarge()

    @property
    def calls(self) -> Calls:
        """Return the arrays of calls that may own an event, as arguments of owner_of()."""
        pairs, contexts = self._pairs, self._contexts
        return Calls(
            self._events, pairs.cells, pairs.used, contexts.keys, contexts.numbers, contexts.used,
            self._maker, self._entered,
        )  # fmt: skip

    def make_room(self, now: int) -> None:
        """Enlarge arrays that are nearly full; forget calls that ended before `now`."""
        if is_full(self._contexts.keys, self._contexts.used):
            self._contexts.grow()
            self._enlarge()
        if has_no_room(self._pairs.cells, self._pairs.used):
            self._pairs.grow(now)

    def _enlarge(self) -> None:
        self._maker = longer(self._maker, KINDS * self._contexts.most, -1)
        self._entered = longer(self._entered, KINDS * self._contexts.most, 0)

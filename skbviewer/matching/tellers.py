# SPDX-License-Identifier: MIT
"""Which call an event was told by when it returned, and which function made a new skb.

In: records of a KBL, block by block.  Out: for each record the ENTRY of that call, or -1.  The
event has the return's time and CPU, and is the one that the function's probe stands for.  By then
the skb may be freed, or in another thread's hands: only the call says whose life the event belongs
to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import KernelLog
from ..records.compiled import compiled
from .kinds import ENTRY, EVENT, by_probe
from .numbering import HALF, MULTIPLIER, Longs, Number, Numbering, Small, longer
from .record_rows import Rows

BIRTHS = 4  # ALLOC, CLONE, COPY, SEGMENT: kbl.h enum kbl_event from 1 on
# And GRO_MERGE, COALESCE, MORPH, SOCK_ENQUEUE, NF_HOOK.
AT_EXIT = (1, 2, 3, 4, 9, 10, 11, 15, 36)
IS_AT_EXIT = np.zeros(256, np.bool_)
IS_AT_EXIT[list(AT_EXIT)] = True
KINDS = 8  # places of a context, by birth

Bytes = npt.NDArray[np.uint8]


class Makers(NamedTuple):
    """Of births: the last call that was entered in their context and tells of such; -1 = none."""

    maker: Small
    entered: Longs  # ns; without a maker that of the record


class Tellers:
    """Looks at the records of a log in order."""

    def __init__(self, log: KernelLog) -> None:
        self._events = by_probe({p.id: p.event for p in log.probes.values() if p.event in AT_EXIT})
        self._contexts = Numbering()
        self._maker, self._entered = np.zeros(0, np.int32), np.zeros(0, np.int64)
        # Calls by (exit_ts, exit_cpu and event), as long as they may not be over: a hash table.
        self._when, self._which = np.zeros((2, 0), np.int64)
        self._call, self._count = np.zeros(0, np.int32), 0

    def tell(self, rows: Rows, told_by: Small) -> Makers:
        """Set who told each of the records that follow."""
        ts, count = rows["ts"], rows.end - rows.first
        context = self._contexts.of(rows.contexts())
        self._maker = longer(self._maker, KINDS * self._contexts.count, -1)
        self._entered = longer(self._entered, KINDS * self._contexts.count, 0)
        self._make_room(count, int(ts[0]))
        made = Makers(np.full(count, -1, np.int32), ts.copy())
        exit_ts, kind, event, cpu, exit_cpu, func = rows.columns(
            "exit_ts kind event cpu exit_cpu func"
        )
        self._count += _tell(
            rows.first, ts, exit_ts, kind, event, cpu, exit_cpu, func, context,
            self._events, self._maker, self._entered, self._when, self._which, self._call,
            told_by, made.maker, made.entered,
        )  # fmt: skip
        return made

    def _make_room(self, more: int, now: int) -> None:
        """Forget calls that are over."""
        if 2 * (self._count + more) <= len(self._call):
            return
        left = np.flatnonzero((self._call != 0) & (self._when >= now))
        size = 1 << (4 * (len(left) + more) - 1).bit_length()
        when, which, call = self._when[left], self._which[left], self._call[left]
        self._when, self._which = np.zeros((2, size), np.int64)
        self._call, self._count = np.zeros(size, np.int32), len(left)
        _refill(when, which, call, self._when, self._which, self._call)


@compiled
def _place_of(when: Number, which: Number, whens: Longs, whiches: Longs, call: Small) -> np.int64:
    """Where the key is, or the free place for it."""
    mask = len(call) - 1
    at = np.int64((np.uint64(when * 512 + which) * MULTIPLIER) >> HALF) & mask
    while call[at] != 0 and (whens[at] != when or whiches[at] != which):
        at = (at + 1) & mask
    return at


@compiled
def _refill(
    when: Longs, which: Longs, call: Small, whens: Longs, whiches: Longs, calls: Small
) -> None:
    for i in range(len(call)):
        at = _place_of(when[i], which[i], whens, whiches, calls)
        whens[at], whiches[at], calls[at] = when[i], which[i], call[i]


@compiled
def _tell(
    first: int,
    ts: Longs,
    exit_ts: Longs,
    kind: Bytes,
    event: Bytes,
    cpu: Small,
    exit_cpu: Small,
    func: Small,
    context: Small,
    events: Bytes,
    makers: Small,
    entereds: Longs,
    whens: Longs,
    whiches: Longs,
    calls: Small,
    told_by: Small,
    maker: Small,
    entered: Longs,
) -> int:
    """Set the last three; returns how many calls came into the table.

    `makers` and `entereds` are by context and birth, `events` by probe; `calls` is one more than
    the record.
    """
    more = 0
    for i in range(len(ts)):
        if kind[i] == ENTRY and 0 <= func[i] < len(events) and events[func[i]] != 0:
            tells = np.int64(events[func[i]])
            if exit_ts[i] >= 0:
                which = (np.int64(exit_cpu[i]) << 8) | tells
                at = _place_of(exit_ts[i], which, whens, whiches, calls)
                if calls[at] == 0:  # of a list's packets the first
                    whens[at], whiches[at], calls[at] = exit_ts[i], which, first + i + 1
                    more += 1
            if tells <= BIRTHS:
                at = KINDS * context[i] + tells
                makers[at], entereds[at] = first + i, ts[i]
        elif kind[i] == EVENT and IS_AT_EXIT[event[i]]:
            which = (np.int64(cpu[i]) << 8) | np.int64(event[i])
            told_by[i] = calls[_place_of(ts[i], which, whens, whiches, calls)] - 1
            at = KINDS * context[i] + event[i]
            if event[i] <= BIRTHS and makers[at] >= 0:
                maker[i], entered[i] = makers[at], entereds[at]
    return more

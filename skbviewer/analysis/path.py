# SPDX-License-Identifier: MIT
"""One packet's or series' way through the kernel, from a session to the types that views show.

In: an open session.  Out: legs with their calls and waits.  Reads a few hundred rows by index.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..matching import READER
from ..records import MAYBE_LOST, OUTSIDE, Captured, Leg, PathCall, Wait
from ..store import queries
from .interruptions import MARK_GAP, MARK_INTERRUPTED, MARK_MIGRATED, MARK_SLEPT
from .layers import layer_of
from .losses import Spans
from .names import MASK64, Names
from .path_events import events_of, queue_waits
from .reasons import VERDICTS, reason

KINDS = ("tx", "rx", "forward")
CONTEXTS = ("task", "softirq", "hardirq", "nmi")
TAIL_CALL, NULL_SKB, OPEN, SKB_IS_RET, SOCK = 0x01, 0x04, 0x08, 0x10, 0x80  # kbl.h KBL_FLAG_*
BACKLOG = frozenset({"enqueue_to_backlog", "netif_rx_internal", "__netif_rx", "netif_rx"})
LOST_IN = "records were lost meanwhile"
MARKS = (
    (MARK_SLEPT, "slept"),
    (MARK_MIGRATED, "changed the CPU"),
    (MARK_INTERRUPTED, "interrupted"),
    (MARK_GAP, LOST_IN),
)


def legs(db: Any, rows: Sequence[Any], names: dict[int, Names]) -> tuple[Leg, ...]:
    """Turn leg rows (with verdict and rung if they come from a match) into full legs."""
    lost = {number: Spans(queries.losses(db, number)) for number in {row.source for row in rows}}
    return tuple(_leg(db, row, names[row.source], lost[row.source]) for row in rows)


def _leg(db: Any, row: Any, names: Names, lost: Spans) -> Leg:
    rows = queries.calls_of_leg(db, row.id)
    base = rows[0].id if rows else 0
    calls = tuple(_call(r, base, names) for r in rows)
    events = events_of(db, row, base, names)
    gives = [_gives(r) for r, call in zip(rows, calls, strict=True) if call.skb]
    waits = _waits(_held([c for c in calls if c.skb], gives), queue_waits(events))
    if len(lost):
        waits = tuple(_as_known(wait, lost) for wait in waits)
    verdict = getattr(row, "verdict", None)
    return Leg(
        series=row.series,
        kind=KINDS[row.kind],
        match="kernel-only" if verdict is None else VERDICTS[verdict],
        reason="" if verdict is None else reason(verdict, row.rung),
        begin_ns=row.begin_ns,
        end_ns=row.end_ns,
        kernel_ns=None if row.gap else row.end_ns - row.begin_ns,
        functions=None if row.gap else row.functions,
        waits=waits,
        calls=calls,
        netns=row.netns,
        device=names.device(row.netns, row.ifindex),
        events=events,
        relation=getattr(row, "relation", ""),
        source=row.source,
        note=MAYBE_LOST if row.gap else "",
    )


def captured(row: Any, names: Names) -> Captured:
    """What a row of table moment tells."""
    return Captured(
        device=names.device(row.netns, row.ifindex),
        direction="out" if row.sends else "in",
        after_ns=row.after_ns,
        before_ns=row.before_ns,
        socket=bool(row.socket),
    )


def _call(row: Any, base: int, names: Names) -> PathCall:
    function = row.function or f"probe {row.func}"
    return PathCall(
        function=function,
        caller=names.symbol(row.caller),
        layer=layer_of(function),
        depth=row.depth,
        parent=row.parent - base if row.parent > 0 else -1,
        entry_ns=row.entry_ns,
        exit_ns=_known(row.exit_ns),
        dur_ns=_known(row.dur_ns),
        self_ns=_known(row.self_ns),
        cpu=row.cpu,
        context=CONTEXTS[row.context] if row.context < len(CONTEXTS) else str(row.context),
        pid=row.pid,
        comm=names.tasks.get(row.pid, ""),
        skb=row.skb & MASK64,
        device=names.device(row.netns, row.ifindex),
        tail_call=bool(row.flags & TAIL_CALL),
        note=_note(row, names),
        comp_ns=_known(row.comp_ns),
        counter=_known(row.counter),
        sock=row.sk & MASK64 if row.sk != -1 else 0,
        mark=max(row.mark, 0),
        comp_err_ns=_known(row.comp_err_ns),
        irq_ns=row.irq_ns,
    )


def _note(row: Any, names: Names) -> str:
    notes = []
    if row.drop_reason >= 0:
        notes.append(f"drop: {names.drop_reason(row.drop_reason)}")
    if row.exit_ns < 0:
        notes.append("open when recording stopped" if row.flags & OPEN else "no exit recorded")
    if row.carried >= 0:
        notes.append(f"packet {(row.carried & 0xFFFFFFFF) + 1} of the call")
    if row.carried >> 32 > 0:
        notes.append(f"{row.carried >> 32} more packets are not shown")
    notes += [text for bit, text in MARKS if row.marks & bit]
    if row.flags & SOCK and not row.skb:
        notes.append("found via socket")
    return ", ".join(notes)


def _gives(row: Any) -> bool:
    """Whether a call took no packet and returned one: it may have waited for it."""
    takes = row.takes is not None and row.takes >= 0 and not row.flags & NULL_SKB
    return bool(row.flags & SKB_IS_RET) and row.exit_ns >= 0 and not takes


def _held(calls: Sequence[PathCall], gives: Sequence[bool]) -> list[tuple[int, PathCall]]:
    """Calls in order of when each had the packet.

    One that gives it had it when it returned, or as soon as its thread had it in a call inside.
    """
    since, entries = [call.entry_ns for call in calls], [call.entry_ns for call in calls]
    for number in reversed([n for n, given in enumerate(gives) if given]):  # inner calls first
        leave = calls[number].exit_ns or 0
        inside = range(number + 1, bisect_right(entries, leave))
        mine = (since[n] for n in inside if _thread(calls[n]) == _thread(calls[number]))
        since[number] = min(mine, default=leave)
    return sorted(zip(since, calls, strict=True), key=lambda held: held[0])


def _thread(call: PathCall) -> tuple[str, int, int]:
    """What a call runs in: a thread may change its CPU meanwhile."""
    return call.context, call.pid, -1 if call.context == "task" else call.cpu


def _waits(held: Sequence[tuple[int, PathCall]], queued: Sequence[Wait]) -> tuple[Wait, ...]:
    """The queues that events tell of, and other times when no function held the packet."""
    waits: list[Wait] = []
    end: int | None = None
    last, reading = None, False
    for begin, call in held:
        if end is not None and last is not None and begin > end:
            waits.append(Wait(_wait_name(call, last, reading), end, begin - end))
        reading |= call.function in READER
        leave = call.exit_ns if call.exit_ns is not None else begin
        end = leave if end is None else max(end, leave)
        last = call
    waits = [wait for wait in waits if not any(_overlap(wait, other) for other in queued)]
    return tuple(sorted([*waits, *queued], key=lambda wait: wait.begin_ns))


def _as_known(wait: Wait, lost: Spans) -> Wait:
    """What it was is not known if a loss lies in it."""
    begin = np.array([wait.begin_ns], np.int64)
    return wait._replace(what=LOST_IN) if lost.meet(begin, begin + wait.dur_ns)[0] else wait


def _overlap(wait: Wait, other: Wait) -> bool:
    """Whether most of `wait` lies within `other`: it is the same, less well told."""
    begin = max(wait.begin_ns, other.begin_ns)
    end = min(wait.begin_ns + wait.dur_ns, other.begin_ns + other.dur_ns)
    return 2 * (end - begin) > wait.dur_ns


def _wait_name(following: PathCall, last: PathCall, reading: bool) -> str:
    if following.function in READER and not reading:
        return "socket queue"
    if last.function in BACKLOG:
        return "softirq"
    if _thread(following) == _thread(last):
        return OUTSIDE
    return "socket backlog" if following.context == "task" and not reading else "queue"


def _known(value: int) -> int | None:
    return None if value < 0 else value

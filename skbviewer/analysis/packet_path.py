# SPDX-License-Identifier: MIT
"""The path of a packet or an skb lifetime through the kernel, read from a session for the views.

Input: an open session.  Output: legs with their calls and waits.  Reading a path needs a few
hundred rows, which are found by index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..records import (
    BEGUN_LATE,
    MAYBE_LOST,
    POINTS_GAP,
    POINTS_ONLY,
    SAMPLED_GAP,
    Captured,
    Leg,
    PathCall,
    Wait,
    counted,
    verb,
)
from ..records.view_rows import LEG_KINDS
from ..store import Database, queries
from ..store.query_rows import StoredCall, StoredLeg, StoredMoment
from .calls.interruptions import (
    MARK_GAP,
    MARK_INNER,
    MARK_INTERRUPTED,
    MARK_MIGRATED,
    MARK_SLEPT,
)
from .path_events import events_of
from .words.function_layers import OTHER, layer_of
from .words.kernel_log_names import MASK64, Names
from .words.packet_info import ends
from .words.verdict_reasons import VERDICTS, reason
from .words.wait_kinds import LOST_IN, NAMES

CONTEXTS = ("task", "softirq", "hardirq", "nmi")
INNER = "no skb"
TAIL_CALL, OPEN, SOCK = 0x01, 0x08, 0x80  # kbl.h KBL_FLAG_*
NOTES = {0: "", 1: MAYBE_LOST, POINTS_GAP: POINTS_ONLY, SAMPLED_GAP: BEGUN_LATE}  # by leg.gap
MARKS = (
    (MARK_INNER, INNER),
    (MARK_SLEPT, "switched out"),
    (MARK_MIGRATED, "moved to another CPU"),
    (MARK_INTERRUPTED, "interrupted"),
    (MARK_GAP, LOST_IN),
)


def legs(db: Database, rows: Sequence[StoredLeg], names: dict[int, Names]) -> tuple[Leg, ...]:
    """Return the legs `rows` with their calls and events.

    `names` has the names of each log, by source.  If the rows come from a match, the returned legs
    have the verdict and the rung of the match.
    """
    return tuple(_leg(db, row, names[row.source]) for row in rows)


def _leg(db: Database, row: StoredLeg, names: Names) -> Leg:
    rows = queries.calls_of_leg(db, row.id)
    base = rows[0].id if rows else 0
    calls = tuple(_call(r, base, names) for r in rows)
    events = events_of(db, row, base, names)
    waits = tuple(
        Wait(NAMES[wait.kind], wait.begin_ns, wait.end_ns - wait.begin_ns)
        for wait in queries.waits_of_leg(db, row.id)
    )
    verdict = row.verdict
    return Leg(
        series=row.series,
        kind=LEG_KINDS[row.kind],
        match="kernel-only" if verdict is None else VERDICTS[verdict],
        reason="" if verdict is None else reason(verdict, row.rung),
        begin_ns=row.begin_ns,
        end_ns=row.end_ns,
        kernel_ns=None,
        functions=None if row.gap else row.functions,
        waits=waits,
        calls=calls,
        netns=row.netns,
        device=names.device(row.netns, row.ifindex),
        events=events,
        relation=row.relation,
        source=row.source,
        note=NOTES.get(row.gap, MAYBE_LOST),
        addresses=tuple(map(ends, queries.addresses_of_leg(db, row.id))),
    )._replace(**_spent(row))


def _spent(row: StoredLeg) -> dict[str, Any]:
    """Return the times of a leg by name; each is None if some records of the leg may be lost."""
    kernel_ns = row.end_ns - row.begin_ns
    made = {"kernel_ns": kernel_ns, "wait_ns": kernel_ns - row.busy_ns - row.unknown_ns}
    made |= {name: getattr(row, name) for name in ("busy_ns", "unknown_ns", "cpu_ns")}
    return dict.fromkeys(made) if row.gap else dict(made)


def as_captured(row: StoredMoment, names: Names) -> Captured:
    """Return where and in which direction a packet was captured, from its row in table `moment`."""
    return Captured(
        device=names.device(row.netns, row.ifindex),
        direction="out" if row.sends else "in",
        after_ns=row.after_ns,
        before_ns=row.before_ns,
        socket=bool(row.socket),
    )


def _call(row: StoredCall, base: int, names: Names) -> PathCall:
    function = row.function or f"probe {row.func}"
    return PathCall(
        function=function,
        caller=names.symbol(row.caller),
        layer=OTHER if row.marks & MARK_INNER else layer_of(function),
        depth=row.depth,
        parent=row.parent - base if row.parent > 0 else -1,
        entry_ns=row.entry_ns,
        exit_ns=_known(row.exit_ns),
        dur_ns=_known(row.dur_ns),
        self_ns=_known(row.self_ns),
        cpu=row.cpu,
        context=CONTEXTS[row.context] if row.context < len(CONTEXTS) else str(row.context),
        pid=row.pid,
        comm=names.task(row.pid, row.cpu),
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
        off_ns=row.off_ns,
        inner=bool(row.marks & MARK_INNER),
    )


def _note(row: StoredCall, names: Names) -> str:
    notes = []
    if row.drop_reason >= 0:
        notes.append(f"drop: {names.drop_reason(row.drop_reason)}")
    if row.exit_ns < 0:
        notes.append("open when recording stopped" if row.flags & OPEN else "no exit recorded")
    if row.carried >= 0:
        notes.append(f"packet {(row.carried & 0xFFFFFFFF) + 1} of the call")
    if row.carried >> 32 > 0:
        more = row.carried >> 32
        are = verb(more, "is", "are")
        notes.append(f"{counted(more, 'more packet')} {are} not shown")
    notes += [text for bit, text in MARKS if row.marks & bit]
    if row.flags & SOCK and not row.skb:
        notes.append("found via socket")
    return ", ".join(notes)


def _known(value: int) -> int | None:
    return None if value < 0 else value

# SPDX-License-Identifier: MIT
"""One packet's or series' way through the kernel, from a session to the types that views show.

In: an open session.  Out: legs with their calls and waits.  Reads a few hundred rows by index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..matching import READER
from ..records import Leg, PathCall, Wait
from ..store import queries
from .layers import layer_of
from .reasons import VERDICTS, reason

KINDS = ("tx", "rx", "forward")
CONTEXTS = ("task", "softirq", "hardirq", "nmi")
TAIL_CALL, MASK64 = 0x01, (1 << 64) - 1  # kbl.h KBL_FLAG_TAIL_CALL
BACKLOG = frozenset({"enqueue_to_backlog", "netif_rx_internal", "__netif_rx", "netif_rx"})


class Names(NamedTuple):
    """The name tables of one KBL."""

    symbols: dict[int, str]
    tasks: dict[int, str]
    devices: dict[tuple[int, int], str]


def names_of(db: Any, source: int) -> Names:
    """The name tables of KBL `source`."""
    return Names(
        queries.symbols(db, source), queries.tasks(db, source), queries.devices(db, source)
    )


def legs(db: Any, rows: Sequence[Any], names: dict[int, Names]) -> tuple[Leg, ...]:
    """Turn leg rows (with verdict and rung if they come from a match) into full legs."""
    return tuple(_leg(db, row, names[row.source]) for row in rows)


def _leg(db: Any, row: Any, names: Names) -> Leg:
    rows = queries.calls_of_leg(db, row.id)
    base = rows[0].id if rows else 0
    calls = tuple(_call(r, base, names) for r in rows)
    verdict = getattr(row, "verdict", None)
    return Leg(
        series=row.series,
        kind=KINDS[row.kind],
        match="kernel-only" if verdict is None else VERDICTS[verdict],
        reason="" if verdict is None else reason(verdict, row.rung),
        begin_ns=row.begin_ns,
        end_ns=row.end_ns,
        kernel_ns=row.end_ns - row.begin_ns,
        functions=row.functions,
        waits=_waits(calls),
        calls=calls,
        netns=row.netns,
        device=names.devices.get((row.netns, row.ifindex), _index_text(row.ifindex)),
    )


def _call(row: Any, base: int, names: Names) -> PathCall:
    function = row.function or f"probe {row.func}"
    return PathCall(
        function=function,
        caller=names.symbols.get(row.caller, _hex(row.caller)),
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
        device=names.devices.get((row.netns, row.ifindex), _index_text(row.ifindex)),
        tail_call=bool(row.flags & TAIL_CALL),
        note=_note(row),
    )


def _note(row: Any) -> str:
    if row.drop_reason >= 0:
        return f"drop: reason {row.drop_reason}"
    return "no exit recorded" if row.exit_ns < 0 else ""


def _waits(calls: tuple[PathCall, ...]) -> tuple[Wait, ...]:
    """Times between a leg's outermost calls, when no function held the packet."""
    waits: list[Wait] = []
    end: int | None = None
    last, reading = None, False
    for call in calls:
        begin = call.entry_ns
        if end is not None and last is not None and begin > end and call.depth == 0:
            waits.append(Wait(_wait_name(call, last, reading), end, begin - end))
        reading |= call.function in READER
        leave = call.exit_ns if call.exit_ns is not None else begin
        end = leave if end is None else max(end, leave)
        last = call
    return tuple(waits)


def _wait_name(following: PathCall, last: PathCall, reading: bool) -> str:
    if following.function in READER and not reading:
        return "socket queue"
    if last.function in BACKLOG:
        return "softirq"
    if (following.context, following.pid, following.cpu) == (last.context, last.pid, last.cpu):
        return "outside probed functions"
    return "socket backlog" if following.context == "task" and not reading else "queue"


def _known(value: int) -> int | None:
    return None if value < 0 else value


def _hex(address: int) -> str:
    return f"0x{address & MASK64:x}" if address else ""


def _index_text(ifindex: int) -> str:
    return f"if{ifindex}" if ifindex > 0 else ""

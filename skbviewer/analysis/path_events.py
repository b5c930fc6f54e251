# SPDX-License-Identifier: MIT
"""The events of one leg of a packet's path."""

from __future__ import annotations

from typing import Any

from ..records import PathEvent
from ..records.kernel_events import Trait, having
from ..store import queries
from .words.event_text import EventFacts, event_text, event_word
from .words.kernel_names import Names

CONTEXTS = ("task", "softirq", "hardirq", "nmi")
CHANGES = {event_word(number) for number in having(Trait.CHANGE)}


def events_of(db: Any, leg: Any, base: int, names: Names) -> tuple[PathEvent, ...]:
    """The events of a leg, given as its row; `base` is the id of its first call."""
    stacks: dict[int, list[str]] = {}
    for frame in queries.frames_of_leg(db, leg.id):
        stacks.setdefault(frame.event, []).append(names.symbol(frame.address))
    rows = queries.events_of_leg(db, leg.id)
    stack = {number: tuple(frames) for number, frames in stacks.items()}
    return tuple(_event(row, leg, base, names, stack.get(row.event_id, ())) for row in rows)


def _event(row: Any, leg: Any, base: int, names: Names, stack: tuple[str, ...]) -> PathEvent:
    word = event_word(row.event_event)
    facts = EventFacts(
        row.event_event,
        row.event_data,
        -1 if row.drop_id is None else row.drop_hook,
        None if row.change_id is None else _Prefixed(row, "change_"),
        None if row.syscall_id is None else _Prefixed(row, "syscall_"),
        row.event_name_name or "",
        leg.netns,
    )
    context = row.event_context
    return PathEvent(
        ts_ns=row.event_ts,
        event=word,
        text=event_text(facts, names),
        call=row.event_call - base if row.event_call > 0 else -1,
        cpu=row.event_cpu,
        context=CONTEXTS[context] if context < len(CONTEXTS) else "",
        pid=row.event_pid,
        comm=names.task(row.event_pid, row.event_cpu),
        caused=word in CHANGES,
        stack=stack,
    )


class _Prefixed:
    """A row whose columns are prefixed with a table's name, as a row without the prefix."""

    def __init__(self, row: Any, prefix: str) -> None:
        self._row = row
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        return getattr(self._row, self._prefix + name)

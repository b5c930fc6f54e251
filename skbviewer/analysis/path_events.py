# SPDX-License-Identifier: MIT
"""The events of one leg of a packet's path."""

from __future__ import annotations

from ..records import PathEvent
from ..records.kernel_events import Trait, having
from ..store import Database, queries
from ..store.rows import StoredEvent, StoredLeg
from .words.event_text import EventFacts, event_text, event_word
from .words.kernel_names import Names

CONTEXTS = ("task", "softirq", "hardirq", "nmi")
CHANGES = {event_word(number) for number in having(Trait.CHANGE)}


def events_of(db: Database, leg: StoredLeg, base: int, names: Names) -> tuple[PathEvent, ...]:
    """Return the events of a leg, given as its row; `base` is the id of its first call."""
    stacks: dict[int, list[str]] = {}
    for frame in queries.frames_of_leg(db, leg.id):
        stacks.setdefault(frame.event, []).append(names.symbol(frame.address))
    rows = queries.events_of_leg(db, leg.id)
    stack = {number: tuple(frames) for number, frames in stacks.items()}
    return tuple(_event(row, leg, base, names, stack.get(row.id, ())) for row in rows)


def _event(
    row: StoredEvent, leg: StoredLeg, base: int, names: Names, stack: tuple[str, ...]
) -> PathEvent:
    word = event_word(row.event)
    facts = EventFacts(
        row.event,
        row.data,
        -1 if row.drop is None else row.drop.hook,
        row.change,
        row.syscall,
        row.name,
        leg.netns,
    )
    context = row.context
    return PathEvent(
        ts_ns=row.ts,
        event=word,
        text=event_text(facts, names),
        call=row.call - base if row.call > 0 else -1,
        cpu=row.cpu,
        context=CONTEXTS[context] if context < len(CONTEXTS) else "",
        pid=row.pid,
        comm=names.task(row.pid, row.cpu),
        caused=word in CHANGES,
        stack=stack,
    )

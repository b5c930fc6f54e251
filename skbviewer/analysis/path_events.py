# SPDX-License-Identifier: MIT
"""The events of one leg of a packet's path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..records import PathEvent
from ..records.bulk_dtypes import DETAIL_BITS
from ..records.kernel_events import Trait, numbers_with
from ..store import Database, queries
from ..store.query_rows import StoredEvent, StoredLeg
from .words.event_text import EventFacts, event_text, event_word
from .words.kernel_log_names import Names
from .words.retis_sections import lines_of, sections_by_name, stack_of

CONTEXTS = ("task", "softirq", "hardirq", "nmi")
CHANGES = {event_word(number) for number in numbers_with(Trait.CHANGE)}


def events_of(db: Database, leg: StoredLeg, base: int, names: Names) -> tuple[PathEvent, ...]:
    """Return the events of `leg`, a row of table `leg`.

    `base` is the id of the leg's first call.  In the result, `call` is an index: the first call has
    the index 0.
    """
    stacks: dict[int, list[str]] = {}
    for frame in queries.frames_of_leg(db, leg.id):
        stacks.setdefault(frame.event, []).append(names.symbol(frame.address))
    rows = queries.events_of_leg(db, leg.id)
    stack = {number: tuple(frames) for number, frames in stacks.items()}
    sections = _sections(db, leg.source, rows, names)
    return tuple(
        _event(
            row, leg, base, names, stack.get(row.id, ()), sections_by_name(sections.get(row.id, ""))
        )
        for row in rows
    )


def _sections(
    db: Database, source: int, rows: Sequence[StoredEvent], names: Names
) -> dict[int, str]:
    """Return the JSON sections of events that are points of another tracer, by the event's id."""
    if not names.is_tracer:
        return {}
    number = {row.id: row.data >> DETAIL_BITS for row in rows if row.data >> DETAIL_BITS > 0}
    texts = queries.sections(db, source, set(number.values()))
    return {row: texts[section] for row, section in number.items() if section in texts}


def _event(
    row: StoredEvent,
    leg: StoredLeg,
    base: int,
    names: Names,
    stack: tuple[str, ...],
    sections: dict[str, Any],
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
        stack=stack or stack_of(sections),
        sections=sections,
        details=lines_of(sections),
    )

# SPDX-License-Identifier: MIT
"""The table of kernel events: number, word and traits of each.

`kmod/kbl.h` has a line for each event that a KBL can hold; `kmod/gen_layout.py` makes KBL_EVENTS
from these lines. Code finds the events that have a trait in this table, and does not list numbers
of events.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from .kbl_layout import KBL_EVENTS, KblEvent
from .types import Bools

EVENTS_MOST = 256  # the column `event` of records has 8 bits


class Trait(StrEnum):
    """A property of events, by which code decides how to treat them."""

    BIRTH = "birth"  # an skb comes into being
    CHILD = "child"  # the new skb is not the record's own: its address is in `data`
    FREE = "free"  # the skb's memory is free: the address may be another skb's from now on
    RELEASE = "release"  # the last reference is gone: the memory will be freed
    LATE = "late"  # recorded when its function returns: by then the skb may have been freed
    MERGED = "merged"  # the content is in another skb, and the memory may be freed silently
    ASIDE = "aside"  # does not show that the skb exists at this time
    DESCRIBES = "describes"  # only describes other records: no row of its own
    CHANGE = "change"  # a table of the kernel changes, because of the packet in whose call it does
    INSIDE = "inside"  # belongs to the packet in whose call it happens
    INTERRUPT = "interrupt"  # an interrupt begins or ends


class KernelEvent(NamedTuple):
    """A kind of event; `text` is the description in kbl.h."""

    number: int
    word: str
    text: str
    traits: frozenset[Trait]


# A point of another tracer: a function had the skb.  Not in kbl.h, so no KBL contains it.
SEEN_AT = KernelEvent(255, "seen", "data = the probe's id", frozenset())

EVENTS: tuple[KernelEvent, ...] = (
    *(
        KernelEvent(number, word, text, frozenset(map(Trait, traits)))
        for number, word, text, traits in KBL_EVENTS
    ),
    SEEN_AT,
)
WORDS: dict[int, str] = {event.number: event.word for event in EVENTS}


def numbers_with(*traits: Trait) -> tuple[int, ...]:
    """Return the numbers of the events that have at least one of `traits`."""
    return tuple(event.number for event in EVENTS if event.traits.intersection(traits))


def flags(*traits: Trait) -> Bools:
    """Return an array that says for each event number (0 to 255) whether it has one of `traits`."""
    made = np.zeros(EVENTS_MOST, np.bool_)
    made[list(numbers_with(*traits))] = True
    return made


BIRTHS = numbers_with(Trait.BIRTH)
# Recorded when the probed function returns; an event and its call have the same time.
AT_EXIT = numbers_with(Trait.BIRTH, Trait.LATE)
ALLOC, FREE, CONSUME, DROP = (
    int(each) for each in (KblEvent.ALLOC, KblEvent.FREE, KblEvent.CONSUME, KblEvent.DROP)
)
CLONE, SEGMENT, MORPH = int(KblEvent.CLONE), int(KblEvent.SEGMENT), int(KblEvent.MORPH)
FOOTPRINT, SOCK_ENQUEUE = int(KblEvent.FOOTPRINT), int(KblEvent.SOCK_ENQUEUE)
RECEIVE, START_XMIT = int(KblEvent.RECEIVE), int(KblEvent.START_XMIT)

# SPDX-License-Identifier: MIT
"""Find packets that waited for the hardware address of the next hop, by their calls and drops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ..words.wait_kinds import BUSY, RANKS, UNPROBED
from .drop_events import drops_of
from .rule_inputs import Case, Spans

ASKS, SENDS = "__neigh_event_send", "neigh_resolve_output"
FAILURE = "neigh_invalidate"  # drops the packets of a neighbour that did not answer


class Questions(NamedTuple):
    """Calls (0-based rows) that asked for an address, and until when (ns) their packets waited.

    `failed` says whether the packet was dropped because nobody answered.
    """

    asked: Int64s
    until: Int64s
    failed: Bools


def questions(case: Case) -> Questions:
    """Return the requests for hardware addresses for which chosen packets waited.

    A packet waited if it was handed to the neighbour a second time, or was dropped because nobody
    answered.  If the address is known but old, the packet is sent at once, so it does not count as
    waiting.
    """
    asks, sends = case.called(ASKS), case.called(SENDS)
    first: dict[int, int] = {}
    for call, leg in zip(asks.tolist(), case.leg_of(asks).tolist(), strict=True):
        first.setdefault(leg, call)
    again = dict(zip(case.leg_of(sends).tolist(), sends.tolist(), strict=True))
    failed = _failures(case) if first else {}
    found = []
    for leg, call in first.items():
        asked = case.call("entry_ns", call)
        if failed.get(leg, 0) > asked:
            found.append((call, failed[leg], 1))
        elif leg in again and case.call("entry_ns", again[leg]) > asked:
            found.append((call, case.call("entry_ns", again[leg]), 0))
    table = np.array(found, np.int64).reshape(-1, 3)
    return Questions(table[:, 0], table[:, 1], table[:, 2] == 1)


def _failures(case: Case) -> dict[int, int]:
    """Return when (ns) the packets of legs (0-based) were dropped because nobody answered."""
    drops = drops_of(case)
    found: dict[int, int] = {}
    for key in drops.keys:
        if key.place.startswith(FAILURE) or key.reason.startswith("NEIGH_FAILED"):
            mine = drops.positions(key)
            leg = case.scope.of_event("leg", drops.event[mine]) - 1
            found |= dict(zip(leg.tolist(), drops.ts[mine].tolist(), strict=True))
    return found


def covered_ns(row: Int64s, begin: Int64s, end: Int64s, size: int) -> Int64s:
    """Return how long (ns) each of `size` packets waited; times that overlap count only once.

    Wait i of packet row[i] lasts from begin[i] to end[i] (ns).  If several hosts forward a packet,
    it may wait in several of them at once.
    """
    found, last = np.zeros(size, np.int64), (-1, 0)
    for at in np.lexsort((begin, row)).tolist():
        mine, start, stop = int(row[at]), int(begin[at]), int(end[at])
        if last[0] == mine:
            start = max(start, last[1])
            stop = max(stop, start)
        found[mine] += stop - start
        last = mine, stop
    return found


def waits_in_questions(case: Case) -> Spans:
    """Return the waits of chosen packets during which they lacked the next hop's address.

    A time counts as a wait only while no function runs for the packet, such as the function that
    asks for the address.
    """
    kinds = [kind for kind in range(BUSY + 1, RANKS) if kind != UNPROBED]
    parts = [case.waits(kind) for kind in kinds]
    spans = Spans(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    begin, end = _shared(case, spans)
    return spans._replace(begin=begin, end=end).selected(end > begin)


def ns_of_questions(case: Case, spans: Spans) -> Int64s:
    """Return how long (ns) each chosen packet lacked the address during the waits `spans`."""
    begin, end = _shared(case, spans)
    found = np.zeros(len(case.rows), np.int64)
    np.add.at(found, spans.row, end - begin)
    return found


def _shared(case: Case, spans: Spans) -> tuple[Int64s, Int64s]:
    """Return begin and end (ns) of the part of each wait in which its leg lacked the address."""
    asked, until, _ = questions(case)
    if not len(asked):
        return spans.begin, spans.begin
    leg, begin = case.leg_of(asked), case.of_call("entry_ns", asked)
    order = np.argsort(leg)  # a leg has one question
    at = order[np.minimum(np.searchsorted(leg, spans.leg, sorter=order), len(leg) - 1)]
    first = np.maximum(spans.begin, begin[at])
    last = np.maximum(np.minimum(spans.end, until[at]), first)
    return first, np.where(leg[at] == spans.leg, last, first)

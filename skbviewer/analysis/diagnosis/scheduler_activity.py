# SPDX-License-Identifier: MIT
"""What a CPU or a thread did between two times, if events of the scheduler were recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..scope import Scope
from ..stats.machine.thread_times import ThreadSpans, ran, slept, waited
from . import wording
from .cpu_occupants import thread_name
from .finding import EVENT, Evidence
from .rule_inputs import Case

NAMED = 2  # most threads that a sentence names
IDLE = 0  # thread


class Ran(NamedTuple):
    """How long (ns) a thread had a CPU; its longest turn on the CPU began at `event` (a row)."""

    who: str
    ns: int
    event: int
    begin: int


def schedule(case: Case, leg: int, cpu: int, begin: int, end: int) -> list[Ran]:
    """Return which threads had the CPU `cpu` of the leg's host from `begin` to `end` (ns).

    The thread that had the CPU longest comes first.  The list is empty if the scheduler's events
    cover less than half of the time.
    """
    spans = _spans(case, ran)
    mine = (spans.source == case.source(leg)) & (spans.cpu == cpu)
    spans = spans.selected(mine & (spans.begin < end) & (spans.end > begin))
    low, high = np.maximum(spans.begin, begin), np.minimum(spans.end, end)
    if int((high - low).sum()) < (end - begin) // 2:
        return []
    made = []
    for pid in np.unique(spans.pid).tolist():
        of = np.flatnonzero(spans.pid == pid)
        longest = of[np.argmax((high - low)[of])]
        who = "no thread" if pid == IDLE else thread_name(case, leg, pid, cpu)
        ns = int((high - low)[of].sum())
        made.append(Ran(who, ns, int(spans.event[longest]), int(low[longest])))
    return sorted(made, key=lambda one: -one.ns)


def _spans(case: Case, what: Callable[[Scope], ThreadSpans]) -> ThreadSpans:
    """Return what(scope), computed only once, because each finding about a wait asks for it."""
    name = f"threads {what.__name__}"
    found: ThreadSpans = case.cached(name, lambda one: what(one.scope.unlimited))
    return found


def thread_text(case: Case, leg: int, pid: int, begin: int, end: int) -> str:
    """Return a sentence: how long (ns) thread `pid` slept, ran, or waited for a CPU.

    The sentence is about the time from `begin` to `end` (ns).  The sentence is "" if the
    scheduler's events cover less than half of this time.
    """
    did = []
    for words, what in (("slept", slept), ("waited for a CPU", waited), ("ran", ran)):
        spans = _spans(case, what)
        spans = spans.selected((spans.source == case.source(leg)) & (spans.pid == pid))
        low, high = np.maximum(spans.begin, begin), np.minimum(spans.end, end)
        did.append((int(np.maximum(high - low, 0).sum()), words))
    if sum(ns for ns, _ in did) < (end - begin) // 2:
        return ""
    most = [f"{words} for {wording.time(ns)}" for ns, words in sorted(did, reverse=True) if ns]
    return f" During this wait, the thread {', '.join(most)}."


def scheduled_text(cpu: int, found: list[Ran]) -> tuple[str, list[Evidence]]:
    """Return a sentence that names the threads `found`, and as evidence their switches."""
    named = [f"{one.who} for {wording.time(one.ns)}" for one in found[:NAMED]]
    facts = [
        Evidence(EVENT, one.event + 1, f"CPU {cpu} ran {one.who}", one.begin, one.ns)
        for one in found[:NAMED]
    ]
    return f" Meanwhile CPU {cpu} ran {' and '.join(named)}.", facts

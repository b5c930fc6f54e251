# SPDX-License-Identifier: MIT
"""Findings about waits: how long packets waited, and what had the CPU in the meantime."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records.types import Bools, Int64s
from ..words.wait_kinds import INTERRUPTS, NAMES, OTHERS, QUEUE
from . import wording
from .cpu_occupants import Occupant, occupants
from .finding import LEG, WARNING, Evidence, Finding
from .neighbour_waits import ns_of_questions
from .rule_inputs import Case, Spans
from .scheduler_activity import Ran, schedule, scheduled_text

NAMED = 2  # most occupants that a sentence names
# A packet that waits for a hardware address waits in these ways: rule `neighbour` explains them.
DURING_QUESTIONS = (QUEUE, OTHERS, INTERRUPTS)


class Wait(NamedTuple):
    """A cause of waiting: its rule, the kind of wait, "waited for ...", and the advice.

    In `words`, {its} stands for "its" or "their".
    """

    rule: str
    kind: int
    words: str
    advice: str


class Longest(NamedTuple):
    """The longest wait of a packet: its 0-based leg, begin and end (ns)."""

    leg: int
    begin: int
    end: int
    call: int  # 0-based row of the call with which the packet continues; -1: none


def finding_of(
    case: Case, wait: Wait, ns: Int64s, which: Bools, spans: Spans, with_cpu: bool = True
) -> list[Finding]:
    """Return at most one finding: the packets in `which` waited `ns` each for the cause `wait`.

    `spans` are the waits.  `ns` and `which` have an element for each chosen packet.  `with_cpu`
    adds a sentence about what used the CPU during the longest wait.
    """
    if wait.kind in DURING_QUESTIONS:
        ns = np.maximum(ns - ns_of_questions(case, spans), 0)
        which = which & case.waited(ns)
    if not which.any():
        return []
    worst = case.worst(ns, which)
    total, number = int(ns[which].sum()), int(which.sum())
    words = wait.words.format(its="its" if number == 1 else "their")
    first = int(worst[0])
    name = wording.packet(case.ids(worst[:1])[0])
    typical = int(case.median_of(case.made.of_wait(wait.kind))[first])
    lead = f"{wording.packets(number)} {words}, {wording.time(total)} altogether"
    own = f"{name[0].upper()}{name[1:]}" if number > 1 else "It"
    text = f"{lead}." if number > 1 else f"{name[0].upper()}{name[1:]} {words}."
    text += f" {own} waited {wording.time(int(ns[first]))}"
    text += f", {wording.share(int(ns[first]), int(case.kernel_ns[first]))} of its time in kernel"
    if typical >= 0:
        text += (
            f"; the median packet of its path, {wording.time(typical) if typical else 'not at all'}"
        )
    text += "."
    longest = longest_of(case, spans, first)
    evidence = list(examples(case, worst, ns, NAMES[wait.kind]))
    if longest is not None:
        evidence.insert(0, span_evidence(longest, NAMES[wait.kind], int(ns[first])))
        if with_cpu:
            said, facts = occupied(case, longest)
            text += said
            evidence += facts
    return [
        Finding(
            wait.rule, WARNING, case.ids(worst[:1])[0], number, total, text, tuple(evidence),
            wait.advice, case.rows[np.flatnonzero(which)], (NAMES[wait.kind],),
        )
    ]  # fmt: skip


def before_in_queue(case: Case, kind: int, longest: Longest) -> int:
    """Return how many packets were in a queue before a packet came, and left it before that packet.

    `longest` is the wait of the packet that came later, and `kind` is the kind of wait.  Only
    packets of the same log are counted.
    """
    spans = case.waits_at(kind, longest.begin)
    sources = case.scope.sources_of(spans.leg)
    before = (spans.end <= longest.end) & (sources == case.source(longest.leg))
    return len(np.unique(spans.leg[before]))


def examples(case: Case, rows: Int64s, ns: Int64s, what: str) -> list[Evidence]:
    """Return the chosen packets at indices `rows` as evidence: "packet 7: `what` 12 µs".

    `ns` is the time that each chosen packet lost.
    """
    return [
        Evidence(
            "packet", number, f"{wording.packet(number)}: {what} {wording.time(lost)}", ns=lost
        )
        for number, lost in zip(case.ids(rows), ns[rows].tolist(), strict=True)
    ]


def longest_of(case: Case, spans: Spans, row: int) -> Longest | None:
    """Return the longest wait in `spans` of the chosen packet `row` (index); None if none."""
    mine = np.flatnonzero(spans.row == row)
    if not len(mine):
        return None
    at = mine[np.argmax(spans.ns[mine])]
    leg, begin, end = int(spans.leg[at]), int(spans.begin[at]), int(spans.end[at])
    return Longest(leg, begin, end, case.call_after(leg, begin, end))


def span_evidence(longest: Longest, what: str, counted_ns: int) -> Evidence:
    """Return a wait as evidence, with a text such as "longest wait: `what` 12 µs".

    `counted_ns` is how much of the wait counts for the packet.  `counted_ns` is less than the whole
    wait if a function ran for the packet in another leg, or if another finding counts a part of the
    wait.
    """
    ns = longest.end - longest.begin
    text = f"longest wait: {what} {wording.time(ns)}"
    if ns > counted_ns:
        text += (
            f", of which {wording.time(ns - counted_ns)} are counted as other parts of the "
            "packet's time in kernel"
        )
    return Evidence(LEG, longest.leg + 1, text, longest.begin, ns)


def occupied(case: Case, longest: Longest) -> tuple[str, list[Evidence]]:
    """Return a sentence about what used the CPU during a wait, and the calls that show it.

    The sentence is "" if no call followed the wait.  If recorded functions fill less than half of
    the wait, or if a thread slept in one of them, the sentence is made from the scheduler's events,
    if they were recorded.
    """
    if longest.call < 0:
        return "", []
    cpu = case.call("cpu", longest.call)
    ran = occupants(case, longest.leg, cpu, longest.begin, longest.end)
    scheduled = schedule(case, longest.leg, cpu, longest.begin, longest.end)
    filled = 2 * sum(one.ns for one in ran) >= longest.end - longest.begin
    if scheduled and not (filled and _had_the_cpu(ran, scheduled)):
        return scheduled_text(cpu, scheduled)
    if not ran:
        return f" No recorded function ran on CPU {cpu} meanwhile.", []
    named = [f"{one.who} for {wording.time(one.ns)} ({one.function})" for one in ran[:NAMED]]
    facts = [
        Evidence(
            "call", one.call,
            f"CPU {cpu}: {one.who} ran {one.function}, {wording.time(one.ns)} in all functions",
            ns=one.ns,
        )
        for one in ran[:NAMED]
    ]  # fmt: skip
    return f" Meanwhile CPU {cpu} ran {' and '.join(named)}.", facts


def _had_the_cpu(ran: list[Occupant], scheduled: list[Ran]) -> bool:
    """Return whether all threads had the CPU for at least as long as their functions ran.

    If a thread had the CPU for less time than its functions ran, it slept in a function, for
    example until a socket had room.
    """
    had = {one.who: one.ns for one in scheduled}
    return all(one.ns <= had.get(one.who, 0) for one in ran if one.is_thread)

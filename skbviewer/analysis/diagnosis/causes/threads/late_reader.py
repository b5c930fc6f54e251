# SPDX-License-Identifier: MIT
"""Packets that waited in a socket's queue because the program did not read them."""

from __future__ import annotations

import numpy as np

from .....records.types import Int64s
from ....row_number_sets import distinct
from ....words.wait_kinds import SOCKET
from ... import required_data, wording
from ...cpu_occupants import thread_name
from ...finding import WARNING, Finding, Rule
from ...rule_inputs import Case, Spans
from ...scheduler_activity import thread_text
from ...wait_findings import Longest, examples, longest_of, occupied, span_evidence

NAME = "late-reader"
# If other threads use its CPU, a thread waits for up to 3 ms, the scheduler's base slice for 8 CPUs
# and more (kernel/sched/fair.c: sysctl_sched_base_slice).  A reader that takes longer is late.
LATE_NS = 3_000_000
PROGRAMS = 5  # most programs with a finding of their own
MOST_GROUPED = 100_000  # most waits whose readers are searched
ADVICE = (
    "The packet had arrived, but the program read it late. If another thread had the CPU, change "
    "the priority or the CPU of one of them; if the program itself was busy, let another of its "
    "threads read."
)


def _find(case: Case) -> list[Finding]:
    spans = _last_waits(case, case.waits(SOCKET))
    late = spans.selected(spans.ns >= LATE_NS)
    return [_finding(case, mine) for mine in _by_program(case, late)] if len(late.leg) else []


def _by_program(case: Case, spans: Spans) -> list[Spans]:
    """Return the waits of each program that read late; the program that cost most is first.

    Each program gets a finding of its own, because each may be late for another reason.  After the
    first PROGRAMS programs, all others get one finding together.  If there are more than
    MOST_GROUPED waits, all programs get one finding together.
    """
    if len(spans.leg) > MOST_GROUPED:
        return [spans]
    threads = np.stack([case.scope.sources_of(spans.leg), _readers(case, spans)])
    each, of = np.unique(threads, axis=1, return_inverse=True)
    kernels = case.scope.kernels
    named = [(log, kernels[log].names.task(pid, cpu=0) or str(pid)) for log, pid in each.T.tolist()]
    programs = sorted(set(named))
    program = np.array([programs.index(one) for one in named], np.int64)[of.reshape(-1)]
    cost = np.bincount(program, spans.ns, len(programs))
    place = np.empty(len(programs), np.int64)
    place[np.argsort(-cost, kind="stable")] = np.minimum(np.arange(len(programs)), PROGRAMS)
    return [spans.selected(place[program] == one) for one in np.unique(place).tolist()]


def _readers(case: Case, spans: Spans) -> Int64s:
    """Return the thread of the first call in the leg after each wait; -1 if there is no call."""
    calls, of = case.scope.columns.rows_with("call", "leg", distinct(spans.leg) + 1)
    pid = np.r_[np.full(len(spans.leg), -1, np.int64), case.of_call("pid", calls)]
    leg = np.r_[spans.leg, np.asarray(of, np.int64) - 1]
    time = np.r_[spans.end, case.of_call("entry_ns", calls)]
    is_call = np.arange(len(leg)) >= len(spans.leg)
    order = np.lexsort((is_call, time, leg))
    at = np.where(is_call[order], np.arange(len(order)), len(order) - 1)
    after = order[np.minimum.accumulate(at[::-1])[::-1]]
    found = np.empty(len(leg), np.int64)
    found[order] = np.where(leg[after] == leg[order], pid[after], -1)
    return found[: len(spans.leg)]


def _finding(case: Case, spans: Spans) -> Finding:
    """Return the finding about packets that waited too long for a reader: the waits `spans`."""
    ns = np.zeros(len(case.rows), np.int64)
    np.maximum.at(ns, spans.row, spans.ns)
    which = ns > 0
    worst = case.worst(ns, which)
    first, number = int(worst[0]), int(which.sum())
    longest = longest_of(case, spans, first)
    assert longest is not None
    name = wording.packet(case.ids(worst[:1])[0])
    said, facts = occupied(case, longest)
    text = (
        f"{wording.packets(number)} waited more than {wording.time(LATE_NS)} in a socket's queue. "
        f"{name[0].upper()}{name[1:]} waited {wording.time(int(ns[first]))} until "
        f"{_reader(case, longest)} read it.{_did(case, longest)}{said}"
    )
    evidence = (span_evidence(longest, "socket queue", int(ns[first])), *facts)
    evidence += tuple(examples(case, worst, ns, "socket queue"))
    return Finding(
        NAME, WARNING, case.ids(worst[:1])[0], number, int(ns[which].sum()), text, evidence,
        ADVICE, case.rows[np.flatnonzero(which)], ("socket queue",),
    )  # fmt: skip


def _last_waits(case: Case, spans: Spans) -> Spans:
    """Return the waits after the end of a leg, when a program could have read the packet."""
    return spans.selected(spans.begin >= case.of_leg("end_ns", spans.leg))


def _reader(case: Case, longest: Longest) -> str:
    if longest.call < 0:
        return "a program"
    pid, cpu = case.call("pid", longest.call), case.call("cpu", longest.call)
    return thread_name(case, longest.leg, pid, cpu)


def _did(case: Case, longest: Longest) -> str:
    if longest.call < 0:
        return ""
    pid = case.call("pid", longest.call)
    return thread_text(case, longest.leg, pid, longest.begin, longest.end)


RULE = Rule(NAME, (required_data.calls(),), _find)

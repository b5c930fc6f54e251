# SPDX-License-Identifier: MIT
"""Packets that waited in a socket's queue because the program did not read them."""

from __future__ import annotations

import numpy as np

from ....words.wait_kinds import SOCKET
from ... import needs, wording
from ...case import Case, Spans
from ...finding import WARNING, Finding, Rule
from ...occupants import thread_name
from ...schedule import thread_text
from ...waiting import Longest, examples, longest_of, occupied, span_evidence

NAME = "late-reader"
# If other threads use its CPU, a thread waits for up to 3 ms, the scheduler's base slice for 8 CPUs
# and more (kernel/sched/fair.c: sysctl_sched_base_slice).  A reader that takes longer is late.
LATE_NS = 3_000_000
ADVICE = (
    "The packet had arrived, but the program read it late. If another thread had the CPU, change "
    "priorities or CPUs; if the reader itself was busy, let another thread read."
)


def _find(case: Case) -> list[Finding]:
    spans = _last_waits(case, case.waits(SOCKET))
    ns = np.zeros(len(case.rows), np.int64)
    np.maximum.at(ns, spans.row, spans.ns)
    which = ns >= LATE_NS
    if not which.any():
        return []
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
    return [
        Finding(
            NAME, WARNING, case.ids(worst[:1])[0], number, int(ns[which].sum()), text, evidence,
            ADVICE, case.rows[np.flatnonzero(which)], ("socket queue",),
        )
    ]  # fmt: skip


def _last_waits(case: Case, spans: Spans) -> Spans:
    """Return the waits after the end of a leg, when a program can read the packet."""
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


RULE = Rule(NAME, (needs.calls(),), _find)

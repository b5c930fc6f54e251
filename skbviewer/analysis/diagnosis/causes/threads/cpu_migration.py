# SPDX-License-Identifier: MIT
"""Packets that waited, and were then handled by another CPU than before."""

from __future__ import annotations

import numpy as np

from ....words.wait_kinds import RANKS, SOFTIRQ
from ... import required_data, wording
from ...finding import CALL, NOTE, Evidence, Finding, Rule
from ...rule_inputs import Case, Spans
from ...wait_findings import examples, longest_of
from ..softirq_wait import calls_after

NAME = "cpu-migration"
ADVICE = (
    "Another CPU took over these packets, because of RPS or RFS, or because the scheduler moved "
    "the thread. The change of the CPU costs cache misses and an inter-processor interrupt. Let "
    "the CPU on which the program runs also receive its packets (aRFS, XPS, affinity)."
)


def _find(case: Case) -> list[Finding]:
    spans = _moved(case)
    ns = np.zeros(len(case.rows), np.int64)
    np.add.at(ns, spans.row, spans.ns)
    which = case.waited(ns)
    if not which.any():
        return []
    worst = case.worst(ns, which)
    longest = longest_of(case, spans, int(worst[0]))
    assert longest is not None
    before, after = longest.call - 1, longest.call
    cpus = f"from CPU {case.call('cpu', before)} to CPU {case.call('cpu', after)}"
    number, name = int(which.sum()), wording.packet(case.ids(worst[:1])[0])
    lasted, it = longest.end - longest.begin, "it" if number == 1 else "them"
    text = (
        f"{wording.packets(number)} waited, and another CPU continued with {it}. "
        f"{name[0].upper()}{name[1:]} went {cpus} and waited {wording.time(lasted)} between them."
    )
    call = Evidence(CALL, after + 1, f"{case.function(after)} on another CPU", longest.end, lasted)
    evidence = (call, *examples(case, worst, ns, "waits between CPUs"))
    total = int(ns[which].sum())
    rows, first = case.rows[np.flatnonzero(which)], case.ids(worst[:1])[0]
    return [Finding(NAME, NOTE, first, number, total, text, evidence, ADVICE, rows)]


def _moved(case: Case) -> Spans:
    """Return the waits inside legs that ended when a call on another CPU began.

    If a wait ends because an interrupted call goes on, the CPU has not changed.
    """
    spans, kind = case.waits_of(range(SOFTIRQ, RANKS))
    ns = np.zeros(len(case.rows), np.int64)
    np.add.at(ns, spans.row, spans.ns)
    mine = np.flatnonzero(case.waited(ns)[spans.row])  # other packets waited less in any case
    mine = mine[spans.end[mine] <= case.of_leg("end_ns", spans.leg[mine])]
    spans, kind = spans.selected(mine), kind[mine]
    after = calls_after(case, spans)
    moves = np.flatnonzero((after.row > after.first) & (after.entry == spans.end))
    cpu, before = (case.of_call("cpu", after.row[moves] - back) for back in (0, 1))
    moves = moves[cpu != before]
    return spans.selected(moves[np.argsort(kind[moves], kind="stable")])


RULE = Rule(NAME, (required_data.calls(),), _find)

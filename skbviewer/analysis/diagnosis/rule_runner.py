# SPDX-License-Identifier: MIT
"""Run all rules of RULE_TABLE that can be judged, and order their findings."""

from __future__ import annotations

import numpy as np

from ...records.types import Int64s
from ..breakdown.time_parts import Breakdown
from ..breakdown.timed_packets import chosen_rows
from ..row_number_sets import distinct
from ..scope import Scope
from ..stats.time_in_kernel_table import TIME
from .causes import lost_records, slow_packets
from .finding import (
    CALL,
    CRITICAL,
    NOTE,
    WARNING,
    Diagnosis,
    Evidence,
    Finding,
    Judged,
    Need,
    Rule,
)
from .required_data import CALLS, CAPTURE, CHOOSE, CHOSEN, logs, no_losses
from .rule_inputs import Case
from .rule_table import RULE_TABLE, WORKS
from .unexplained_time import NAME as UNEXPLAINED
from .unexplained_time import unexplained

ORDER = (CRITICAL, WARNING, NOTE)
ABSENCE = (no_losses(),)  # what each rule needs besides to say that it found nothing


def diagnose(scope: Scope, ids: Int64s | None = None) -> Diagnosis:
    """Diagnose the packets that the scope selects, or the packets `ids` (-n for row K<n>).

    Raises Cancelled.
    """
    if ids is None:
        return scope.once_made("diagnosis", lambda: _diagnosed(scope, None))
    return _diagnosed(scope, ids)


def _diagnosed(scope: Scope, ids: Int64s | None) -> Diagnosis:
    made = Breakdown(scope)
    rows = chosen_rows(scope, made.units) if ids is None else made.units.rows_of(ids)
    needed = [any(work.does(name) for work in WORKS) for name in made.functions]
    case = Case(scope, made, rows, ids, np.array(needed, np.bool_))
    time, findings = case.time, list[Finding]()
    if ids is None:
        scope.once_made(TIME, lambda: time)
    judged = []
    for done, rule in enumerate(RULE_TABLE):
        scope.progress.report("Diagnosing", done, len(RULE_TABLE))
        answer, found = _judged(case, rule, rule.needs), list[Finding]()
        if answer.judged:
            found = rule.find(case)
        if answer.judged and not found and rule.name != lost_records.NAME:
            answer = _judged(case, rule, ABSENCE + rule.absence)
        judged.append(answer)
        findings += found
    findings += unexplained(case, findings)
    (slow,) = (one for one in judged if one.rule == slow_packets.NAME)
    judged.append(slow._replace(rule=UNEXPLAINED))  # the remainder of that rule's findings
    findings = [_with_stored_calls(scope, _with_rows(made, one)) for one in findings]
    findings.sort(key=lambda one: (ORDER.index(one.severity), -(one.cost_ns or 0), one.rule))
    return Diagnosis(tuple(findings), tuple(judged), time)


def _with_rows(made: Breakdown, one: Finding) -> Finding:
    """Return the finding; if its rule has not set `rows`, they become its packets' numbers."""
    rows = one.rows if len(one.rows) else made.units.id[one.packets].astype(np.int64)
    return one._replace(rows=distinct(rows))


def _with_stored_calls(scope: Scope, one: Finding) -> Finding:
    """Return the finding with the ids of calls in the session, which may differ in the scope."""

    def of(fact: Evidence) -> Evidence:
        if fact.kind != CALL or fact.id is None:
            return fact
        (row,) = scope.columns.stored_rows("call", np.array([fact.id - 1])).tolist()
        return fact._replace(id=row + 1)

    return one._replace(evidence=tuple(map(of, one.evidence)))


def _judged(case: Case, rule: Rule, needs: tuple[Need, ...]) -> Judged:
    if case.scope.is_empty:
        return Judged(rule.name, False, (CHOSEN,), CHOOSE)
    missing = [need for need in needs if not need.is_there(case)]
    missing = [need for need in missing if need.name == CALLS] or missing  # others depend on it
    if not case.scope.kernels and any(need.name != CAPTURE for need in missing):
        missing = [logs()]
    how = "; ".join(dict.fromkeys(need.how_for(case) for need in missing))
    return Judged(rule.name, not missing, tuple(need.name for need in missing), how)

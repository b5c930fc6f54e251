# SPDX-License-Identifier: MIT
"""Packets that waited in a CPU's backlog or for a poll, until the softirq took them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....records.compiled import compiled
from ....records.types import Bools, Int64s
from ...row_number_sets import distinct
from ...words.wait_kinds import SOFTIRQ
from .. import required_data, wording
from ..finding import Finding, Rule
from ..rule_inputs import Case, Spans
from ..wait_findings import Wait, before_in_queue, finding_of, longest_of

NAME = "softirq-wait"
WAIT = Wait(
    NAME,
    SOFTIRQ,
    "waited for the receiving softirq",
    "The CPU had other work. Spread receiving over more CPUs (RSS, RPS), or move the other work to "
    "another CPU.",
)
KSOFTIRQD = "ksoftirqd/"


def _find(case: Case) -> list[Finding]:
    ns = case.spent(case.made.of_wait(SOFTIRQ))
    spans = long_waits(case, ns)
    which = case.waited(ns) & ~handed_off(case, spans)
    found = finding_of(case, WAIT, ns, which, spans)
    return [_with_queue(case, one, spans, ns, which) for one in found]


def long_waits(case: Case, ns: Int64s) -> Spans:
    """Return the softirq waits of packets that waited long enough for a finding.

    `ns` is how long each chosen packet waited for the softirq altogether.
    """
    spans = case.waits(SOFTIRQ)
    return spans.selected(case.waited(ns)[spans.row])


def handed_off(case: Case, spans: Spans) -> Bools:
    """Return for each chosen packet whether ksoftirqd ended most of its waiting time.

    `spans` are the waits.  "Most" refers to the durations of the waits, not to their number.
    """
    other, own = np.zeros((2, len(case.rows)), np.int64)
    by_thread = ended_in_ksoftirqd(case, spans)
    np.add.at(own, spans.row[by_thread], spans.ns[by_thread])
    np.add.at(other, spans.row[~by_thread], spans.ns[~by_thread])
    return np.asarray(own > other)


def ended_in_ksoftirqd(case: Case, spans: Spans) -> Bools:
    """Return for each wait in `spans` whether it ended when a thread ksoftirqd took the packet."""
    found = np.zeros(len(spans.leg), np.bool_)
    following = calls_after(case, spans).row
    log = case.scope.sources_of(spans.leg)
    for source in sorted(case.scope.kernels):
        tasks = case.scope.kernels[source].names.tasks
        named = [pid for pid, name in tasks.items() if name.startswith(KSOFTIRQD)]
        mine = np.flatnonzero((log == source) & (following >= 0))
        found[mine] = np.isin(case.of_call("pid", following[mine]), named)
    return found


class Following(NamedTuple):
    """The call after each wait: its 0-based row, its begin (ns), and the first call of its leg.

    The row is -1 if there is no call after the wait.
    """

    row: Int64s
    entry: Int64s
    first: Int64s


def calls_after(case: Case, spans: Spans) -> Following:
    """Return for each wait in `spans` the first call of the same leg at or after the wait's end."""
    columns, legs = case.scope.columns, distinct(spans.leg)
    rows, of = columns.rows_with("call", "leg", legs + 1)
    size = np.bincount(np.searchsorted(legs, of.astype(np.int64) - 1), minlength=len(legs))
    at, leg = np.r_[0, np.cumsum(size)], np.searchsorted(legs, spans.leg)
    entry = np.array(columns.near("call", "entry_ns", rows), np.int64)
    found = np.full(len(spans.leg), -1, np.int64)
    find_calls(at, entry, leg, np.ascontiguousarray(spans.end), found)
    rows, entry = np.r_[rows, -1], np.r_[entry, -1]  # -1 finds the last ones
    return Following(rows[found], entry[found], rows[at[leg]])


@compiled
def find_calls(calls_at: Int64s, entry: Int64s, leg: Int64s, time: Int64s, found: Int64s) -> None:
    """Set found[i] to the first call of leg[i] that begins at time[i] (ns) or later.

    If leg[i] has no call at or after time[i], found[i] stays as it is.  The calls of leg k are
    calls_at[k] to calls_at[k + 1] - 1; they begin at the times `entry` (ns).
    """
    for i in range(len(leg)):
        low, last = calls_at[leg[i]], calls_at[leg[i] + 1]
        high = last
        while low < high:
            middle = (low + high) // 2
            if entry[middle] < time[i]:
                low = middle + 1
            else:
                high = middle
        if low < last:
            found[i] = low


def _with_queue(case: Case, found: Finding, spans: Spans, ns: Int64s, which: Bools) -> Finding:
    """Return the finding; its text also says how many packets left the queue before the slowest."""
    longest = longest_of(case, spans, int(case.worst(ns, which)[0]))
    if longest is None:
        return found
    number = before_in_queue(case, SOFTIRQ, longest)
    said = f" {wording.packets(number)} {wording.were(number)} in the queue before this packet."
    said = said if number else ""
    return found._replace(text=found.text + said)


RULE = Rule(NAME, (required_data.calls(),), _find)

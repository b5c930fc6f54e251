# SPDX-License-Identifier: MIT
"""Packets that waited in a queueing discipline until the device took them."""

from __future__ import annotations

from ....records.kbl_layout import KblEvent
from ...words.wait_kinds import QDISC
from .. import required_data, wording
from ..finding import Finding, Rule
from ..rule_inputs import Case
from ..wait_findings import Wait, before_in_queue, finding_of, longest_of

NAME = "queueing-discipline"
WAIT = Wait(
    NAME,
    QDISC,
    "waited in a queueing discipline",
    "The device takes packets more slowly than they come, or the queueing discipline delays them "
    "on purpose: see 'tc -s qdisc' for the kind, rate and backlog of the discipline.",
)
MASK32 = 0xFFFFFFFF


def _find(case: Case) -> list[Finding]:
    ns, spans = case.spent(case.made.of_wait(QDISC)), case.waits(QDISC)
    which = case.waited(ns)
    found = finding_of(case, WAIT, ns, which, spans, with_cpu=False)
    if not found:
        return []
    longest = longest_of(case, spans, int(case.worst(ns, which)[0]))
    if longest is None:
        return found
    said = f" The packet was in the queue {_where(case, longest.leg)}."
    number = before_in_queue(case, QDISC, longest)
    if number:
        said += f" {wording.packets(number)} left the queue before this packet."
    return [found[0]._replace(text=found[0].text + said)]


def _where(case: Case, leg: int) -> str:
    """Return handle and device of the queueing discipline in which a leg's packet waited.

    If a segment was cut inside the queue, there is an event for leaving the queue, but none for
    entering it.
    """
    for kind in (KblEvent.QDISC_ENQUEUE, KblEvent.QDISC_DEQUEUE):
        events = case.events(int(kind))
        mine = events[case.scope.of_event("leg", events) == leg + 1]
        if len(mine):
            break
    else:
        return "of a device whose events were not recorded"
    data = int(case.scope.columns.take("event", "data", mine[:1])[0])
    handle, ifindex = data & MASK32, data >> 32 & MASK32
    netns = int(case.scope.columns.part("leg", "netns", leg, 1)[0])
    device = case.scope.kernels[case.source(leg)].names.device(netns, ifindex)
    return f"{handle >> 16:x}: of {device or 'a device'}"


RULE = Rule(
    NAME,
    (
        required_data.calls(),
        required_data.events("qdisc", KblEvent.QDISC_ENQUEUE, KblEvent.QDISC_DEQUEUE),
    ),
    _find,
)

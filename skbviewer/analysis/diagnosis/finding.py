# SPDX-License-Identifier: MIT
"""The parts of a diagnosis: findings, their evidence, and the rules that could be judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records.types import Int64s
from ..stats.time_in_kernel_table import TimeTable

if TYPE_CHECKING:
    from .rule_inputs import Case

PACKET, CALL, EVENT, LEG, PART, LOSS = "packet", "call", "event", "leg", "part", "loss"
NONE: Int64s = np.zeros(0, np.int64)
CRITICAL, WARNING, NOTE = "critical", "warning", "note"


class Evidence(NamedTuple):
    """A fact that supports a finding.

    `kind` says what `id` refers to: a packet's number (-n for row K<n>), or the id of a row in
    table call, event, leg or loss of the session; None for a part of the time.  `begin_ns` is on
    the log's clock.
    """

    kind: str
    id: int | None
    text: str
    begin_ns: int | None = None
    ns: int | None = None


class Finding(NamedTuple):
    """One cause, for one packet or several.

    `packet` is the packet that suffered most (-n for row K<n>); None if the finding is about the
    recording.  `cost_ns` is the total cost of the cause; None if it cost no time.  `packets` are
    indices of Breakdown.units; `explains` are the names of parts of their times that the finding
    explains.  `rows` are the packets of the finding, in ascending order, numbered like `packet`
    (int64).
    """

    rule: str
    severity: str
    packet: int | None
    number: int  # of packets
    cost_ns: int | None
    text: str
    evidence: tuple[Evidence, ...]
    advice: str
    packets: Int64s = NONE
    explains: tuple[str, ...] = ()
    rows: Int64s = NONE


class Judged(NamedTuple):
    """Whether a rule could be judged; if not, the missing data, and how to record them."""

    rule: str
    judged: bool
    missing: tuple[str, ...]
    how_to_record: str


class Need(NamedTuple):
    """A requirement of a rule: whether the case fulfils it, its name, and how to record it.

    `how` may depend on the recording.
    """

    is_there: Callable[[Case], bool]
    name: str
    how: str | Callable[[Case], str]

    def how_for(self, case: Case) -> str:
        """Return how to record what the case lacks."""
        return self.how if isinstance(self.how, str) else self.how(case)


class Rule(NamedTuple):
    """A line of RULE_TABLE.  `find` raises Cancelled.

    `absence` are requirements besides `needs` for the claim that there is nothing to find.
    """

    name: str
    needs: tuple[Need, ...]
    find: Callable[[Case], list[Finding]]
    absence: tuple[Need, ...] = ()


class Diagnosis(NamedTuple):
    """Findings, the most costly first; the rules that were judged; the parts of the time."""

    findings: tuple[Finding, ...]
    judged: tuple[Judged, ...]
    time: TimeTable

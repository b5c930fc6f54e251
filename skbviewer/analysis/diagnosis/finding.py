# SPDX-License-Identifier: MIT
"""The parts of a diagnosis: findings, their evidence, and which rules could be judged."""

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

    `kind` says what `id` is: the number of a packet (-n for row K<n>), or the id of a row in table
    call, event, leg or loss of the session.  `id` is None if the fact is about a part of the
    packets' time.  `begin_ns` is a time on the clock of the log.
    """

    kind: str
    id: int | None
    text: str
    begin_ns: int | None = None
    ns: int | None = None


class Finding(NamedTuple):
    """One cause of delay or loss, for one packet or several.

    `packet` is the packet that suffered most (-n for row K<n>); it is None if the finding is about
    the recording.  `cost_ns` is the time that the cause cost all packets together; it is None if
    the cause cost no time.  `packets` are indices of Breakdown.units.  `explains` has the names of
    those parts of the packets' times that the finding explains.  `rows` are the numbers of the
    packets, rising, -n for row K<n> (int64).
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
    """Whether a rule could be judged; if not, which data are missing, and how to record them."""

    rule: str
    judged: bool
    missing: tuple[str, ...]
    how_to_record: str


class Need(NamedTuple):
    """A requirement of a rule: whether a case fulfils it, its name, and how to record the data.

    `how` is a function if the advice depends on the recording.
    """

    is_there: Callable[[Case], bool]
    name: str
    how: str | Callable[[Case], str]

    def how_for(self, case: Case) -> str:
        """Return how to record what `case` lacks."""
        return self.how if isinstance(self.how, str) else self.how(case)


class Rule(NamedTuple):
    """A line of RULE_TABLE: a rule, what it needs, and the function that finds its cause.

    Without a finding, a rule claims that its cause is absent.  To claim that its cause is absent, a
    rule needs the data in `absence` and those in `needs`.  `find` raises Cancelled.
    """

    name: str
    needs: tuple[Need, ...]
    find: Callable[[Case], list[Finding]]
    absence: tuple[Need, ...] = ()


class Diagnosis(NamedTuple):
    """The result: findings, the most costly first; which rules were judged; parts of the time."""

    findings: tuple[Finding, ...]
    judged: tuple[Judged, ...]
    time: TimeTable

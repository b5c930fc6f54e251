# SPDX-License-Identifier: MIT
"""Packets whose thread was switched out during the work on them."""

from __future__ import annotations

import numpy as np

from ....words.wait_kinds import OFF
from ... import required_data
from ...finding import Finding, Rule
from ...lock_waits import locks_of
from ...rule_inputs import Case
from ...wait_findings import Wait, finding_of

NAME = "switched-out"
WAIT = Wait(
    NAME,
    OFF,
    "waited while {its} thread did not run",
    "The scheduler gave the CPU to another thread in the middle of the work on these packets. Give "
    "the thread a higher priority, or a CPU of its own.",
)


def _find(case: Case) -> list[Finding]:
    # A thread that sleeps for a lock is switched out, too: rule lock-contention explains that.
    asleep = locks_of(case).asleep.of_packets(len(case.rows))
    ns = np.maximum(case.spent(case.made.of_wait(OFF)) - asleep, 0)
    return finding_of(case, WAIT, ns, case.waited(ns), case.waits(OFF))


RULE = Rule(NAME, (required_data.calls(),), _find)

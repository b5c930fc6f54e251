# SPDX-License-Identifier: MIT
"""Records that were lost during recording, so that some packets could not be judged."""

from __future__ import annotations

import numpy as np

from ....records import counted
from ....records.types import Bools
from ...packet_legs import exact_matches
from ...row_number_sets import flags_of
from .. import required_data, wording
from ..finding import LOSS, WARNING, Evidence, Finding, Rule
from ..rule_inputs import EXAMPLES, Case

NAME = "lost-records"
ADVICE = (
    "Record less: set a filter ('kblrecord host ...'), probe fewer functions, or turn off event "
    "groups. Or use larger buffers."
)


def _find(case: Case) -> list[Finding]:
    scope = case.scope
    spans = [span for source in sorted(scope.kernels) for span in scope.kernels[source].losses]
    if not spans:
        return []
    legs = int((scope.legs & scope.gaps & ~scope.points & _own_legs(case)).sum())
    there = flags_of(case.packets, scope.columns.length("packet") + 1)
    ids = np.asarray(case.made.units.id)
    there[ids[ids > 0]] = False
    absent = int(there.sum())
    if not legs and not absent:
        return []
    text = f"Records were lost {counted(len(spans), 'time')}. "
    if legs:
        text += (
            f"{counted(legs, 'pass', 'passes')} of a packet through a stack may lack records; all "
            "findings leave such passes out. "
        )
    if absent:
        text += (
            f"{counted(absent, 'captured packet')} may have passed the kernel while records were "
            "lost: the log has no record of them, so their drops and waits are unknown. "
        )
    text = text.rstrip()
    evidence = [
        Evidence(
            LOSS, None, f"records were lost for {wording.time(end - begin)}", begin, end - begin
        )
        for begin, end in sorted(spans, key=lambda one: one[0] - one[1])[:EXAMPLES]
    ]
    return [Finding(NAME, WARNING, None, 0, None, text, tuple(evidence), ADVICE)]


def _own_legs(case: Case) -> Bools:
    """Return for each leg of the session whether it may belong to a chosen packet."""
    if case.listed is None:
        return np.ones(len(case.scope.legs), np.bool_)
    _, legs = exact_matches(case.scope.columns, case.packets)
    return flags_of(legs, len(case.scope.legs))


RULE = Rule(NAME, (required_data.logs(),), _find)

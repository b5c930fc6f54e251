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
    "Record less or keep more: a filter (kblrecord host ...), fewer functions, fewer event groups, "
    "or larger buffers."
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
            f"{counted(legs, 'pass', 'passes')} of packets through a stack may lack records; the "
            "times and causes of these passes are left out of all findings. "
        )
    if absent:
        text += (
            f"{counted(absent, 'captured packet')} may have passed while records were lost, "
            "because the log does not show them; nothing is known about their drops and waits. "
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

# SPDX-License-Identifier: MIT
"""The time that the probes themselves took, which makes packets look slower than they are."""

from __future__ import annotations

import numpy as np

from ...breakdown.time_part_loops import PROBES
from ...breakdown.time_parts import THE_PROBES
from .. import required_data, wording
from ..finding import NOTE, Finding, Rule
from ..rule_inputs import Case
from ..wait_findings import examples

NAME = "probe-cost"
SHARE = 0.2  # from this share of the time in which functions ran, the probes distort the picture
ADVICE = (
    "The probes make functions look slower than they are. Compare only times from which skbviewer "
    "subtracted the cost of the probes. Probe fewer functions, or use probes that cost less "
    "(docs/overhead.md)."
)


def _find(case: Case) -> list[Finding]:
    made = case.made
    ns = case.spent(len(made.functions) + PROBES)
    total = int(ns.sum())
    whole = case.busy_ns + total
    if total < SHARE * whole:
        return []
    which = ns > 0
    worst = case.worst(ns, which)
    text = (
        f"The probes took about {wording.time(total)} (± {wording.time(total // 2)}), "
        f"{wording.share(total, whole)} of the time in which functions ran for these packets, and "
        f"{wording.share(total, int(case.kernel_ns.sum()))} of their time in kernel."
    )
    return [
        Finding(
            NAME, NOTE, case.ids(worst[:1])[0], int(which.sum()), total, text,
            tuple(examples(case, worst, ns, "probes")), ADVICE,
            case.rows[np.flatnonzero(which)], (THE_PROBES,),
        )
    ]  # fmt: skip


RULE = Rule(NAME, (required_data.calls(), required_data.calibration()), _find)

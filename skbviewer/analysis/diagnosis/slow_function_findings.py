# SPDX-License-Identifier: MIT
"""What the rules about the work of particular functions have in common."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from . import wording
from .finding import WARNING, Finding
from .rule_inputs import Case
from .wait_findings import examples


class Work(NamedTuple):
    """A kind of work that functions do for packets.

    `rule` is the rule about this work, does(name) says whether a function does the work, `words`
    are for a sentence ("were copied ..."), and `advice` is for the user.
    """

    rule: str
    does: Callable[[str], bool]
    words: str
    advice: str


def work_finding(case: Case, work: Work) -> list[Finding]:
    """Return at most one finding: packets for which the functions of `work` ran long.

    If the log was calibrated, the times of functions do not include the cost of probes.
    """
    functions = case.made.functions
    names = [name for name in functions if work.does(name)]
    ns = case.spent_in(np.array([name in names for name in functions], np.bool_))
    which = case.matters(ns)
    if not which.any():
        return []
    worst = case.worst(ns, which)
    total, number, first = int(ns[which].sum()), int(which.sum()), int(worst[0])
    name = wording.packet(case.ids(worst[:1])[0])
    called = sorted({case.function(int(call)) for call in case.called(*names)})
    words = re.sub("^were ", f"{wording.were(number)} ", work.words)
    text = (
        f"{wording.packets(number)} {words}: {wording.time(total)} altogether, in "
        f"{', '.join(called[:3])}. {name[0].upper()}{name[1:]}: "
        f"{wording.time(int(ns[first]))}, "
        f"{wording.share(int(ns[first]), int(case.kernel_ns[first]))} of its time in kernel."
    )
    return [
        Finding(
            work.rule, WARNING, case.ids(worst[:1])[0], number, total, text,
            tuple(examples(case, worst, ns, "busy")), work.advice,
            case.rows[np.flatnonzero(which)], tuple(called),
        )
    ]  # fmt: skip

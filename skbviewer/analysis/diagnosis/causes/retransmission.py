# SPDX-License-Identifier: MIT
"""TCP segments that were sent again, and what happened to the first copy of each."""

from __future__ import annotations

import numpy as np

from ....records import counted
from .. import required_data, wording
from ..finding import PACKET, WARNING, Evidence, Finding, Rule
from ..retransmitted_segments import FATES, Again, sent_again
from ..rule_inputs import EXAMPLES, Case

NAME = "retransmission"
ADVICE = {
    "dropped": "The first segment was dropped by a recorded kernel: see the finding about drops.",
    "wire": "The first segment left the recorded kernels, and no recorded kernel received it: it "
    "was lost after the last recorded kernel. Also record the other host, or capture closer to "
    "that host.",
    "arrived": "The first segment arrived, so sending it again was unnecessary: the "
    "acknowledgement was late or lost. Look at the delays of the acknowledgements.",
    "unknown": "No kernel log shows what happened to the first segment: record the kernels of both "
    "hosts together with the capture, and avoid lost records.",
}
WORDS = {
    "dropped": "the first segment was dropped in a recorded kernel",
    "wire": "the first segment was sent, but no recorded kernel received it",
    "arrived": "the first segment arrived",
    "unknown": "it is not known what happened to the first segment",
}


def _find(case: Case) -> list[Finding]:
    again = sent_again(case)
    groups = ((fate, [one for one in again if one.fate == fate]) for fate in FATES)
    return [_finding(fate, mine) for fate, mine in groups if mine]


def _finding(fate: str, mine: list[Again]) -> Finding:
    why = f" ({mine[0].why})" if mine[0].why else ""
    number = len(mine)
    text = (
        f"{counted(number, 'TCP segment')} {wording.were(number)} sent again; {WORDS[fate]}{why}."
    )
    evidence = tuple(Evidence(PACKET, one.packet, _repeats(one)) for one in mine[:EXAMPLES])
    first = mine[0].packet
    found = Finding(NAME, WARNING, first, number, None, text, evidence, ADVICE[fate])
    return found._replace(rows=np.array([one.packet for one in mine], np.int64))


def _repeats(one: Again) -> str:
    first = wording.packet(one.first) if one.first else "a segment that was not captured"
    return f"{wording.packet(one.packet)} repeats {first}"


RULE = Rule(NAME, (required_data.capture(),), _find)

# SPDX-License-Identifier: MIT
"""TCP segments whose order in the capture differs from the order in which they were sent.

A segment that the kernel sent again comes after later segments of its stream, but this is not a
change of order.  A segment that the network copied is not a change of order either, nor is a SYN,
which comes first in each stream.
"""

from __future__ import annotations

import numpy as np

from ....records import counted
from ...fields.stream_fields import SYN
from ...streams.tcp_segment_overlaps import copies_of_network
from .. import required_data, wording
from ..finding import PACKET, WARNING, Evidence, Finding, Rule
from ..retransmitted_segments import (
    flagged,
    one_of_each_skb,
    overtaken_in_kernel,
    repetitions,
    tcp_flags,
)
from ..rule_inputs import EXAMPLES, Case

NAME = "reordering"
ADVICE = {
    True: "A recorded kernel changed the order of the segments: several CPUs or queues handle one "
    "connection. See RPS, XPS and multi-queue disciplines.",
    False: "The order of the segments changed before they reached a recorded kernel, or at an "
    "unknown place. Usual causes are several network paths or queues between the hosts.",
}


def _find(case: Case) -> list[Finding]:
    late = np.union1d(flagged(case, "out_of_order"), flagged(case, "retransmission"))
    late = late[tcp_flags(case, late) & SYN == 0]
    late = late[~copies_of_network(case.scope, late)]
    packets = one_of_each_skb(case, np.setdiff1d(late, repetitions(case)))
    inside = overtaken_in_kernel(case, packets)
    parts = ((here, packets[inside == here].tolist()) for here in (True, False))
    return [_finding(here, mine) for here, mine in parts if mine]


def _finding(here: bool, mine: list[int]) -> Finding:
    where = "in a recorded kernel" if here else "before they were captured"
    text = (
        f"{counted(len(mine), 'TCP segment')} came after segments with higher sequence numbers; "
        f"the order changed {where}."
    )
    evidence = tuple(
        Evidence(PACKET, number, f"{wording.packet(number)} is out of order")
        for number in mine[:EXAMPLES]
    )
    found = Finding(NAME, WARNING, mine[0], len(mine), None, text, evidence, ADVICE[here])
    return found._replace(rows=np.array(mine, np.int64))


RULE = Rule(NAME, (required_data.capture(),), _find)

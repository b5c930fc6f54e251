# SPDX-License-Identifier: MIT
"""What a leg may do at a time (docs/times.md); of several that apply, the first one counts."""

from __future__ import annotations

from ...records import OUTSIDE as OUTSIDE_PROBED

BUSY, QDISC, SOCKET, SOFTIRQ, BACKLOG, SENDING, QUEUE, REASSEMBLY = range(8)
OTHERS, INTERRUPTS, OFF, UNPROBED, LOST, OUTSIDE, RANKS = range(8, 15)
UNKNOWN = (LOST, OUTSIDE)
LOST_IN = "records were lost meanwhile"
NAMES = (
    "busy", "qdisc", "socket queue", "softirq", "socket backlog", "send queue", "queue",
    "reassembly", "other packets", "interrupts", "switched out", "functions without a probe",
    LOST_IN, OUTSIDE_PROBED,
)  # fmt: skip

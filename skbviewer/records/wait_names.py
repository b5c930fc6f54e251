# SPDX-License-Identifier: MIT
"""Names of the states of a leg over time (docs/times.md), by their numbers in sessions."""

from __future__ import annotations

from .view_rows import OUTSIDE

LOST_IN = "records were lost meanwhile"
WAIT_NAMES = (
    "busy", "qdisc", "socket queue", "softirq", "socket backlog", "send queue", "queue",
    "reassembly", "other packets", "interrupts", "switched out", "functions without a probe",
    "NAPI list", LOST_IN, OUTSIDE,
)  # fmt: skip

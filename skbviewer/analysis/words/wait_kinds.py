# SPDX-License-Identifier: MIT
"""The states that a leg can be in (docs/times.md); if several apply, the first one counts."""

from __future__ import annotations

from ...records.wait_names import LOST_IN as LOST_IN
from ...records.wait_names import WAIT_NAMES

BUSY, QDISC, SOCKET, SOFTIRQ, BACKLOG, SENDING, QUEUE, REASSEMBLY = range(8)
OTHERS, INTERRUPTS, OFF, UNPROBED, LISTED, LOST, OUTSIDE, RANKS = range(8, 16)
UNKNOWN = (LOST, OUTSIDE)
NAMES = WAIT_NAMES

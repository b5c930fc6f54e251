# SPDX-License-Identifier: MIT
"""What a leg may do at a time (docs/times.md); of several that apply, the first one counts."""

from __future__ import annotations

from ...records.wait_names import LOST_IN as LOST_IN
from ...records.wait_names import WAIT_NAMES

BUSY, QDISC, SOCKET, SOFTIRQ, BACKLOG, SENDING, QUEUE, REASSEMBLY = range(8)
OTHERS, INTERRUPTS, OFF, UNPROBED, LOST, OUTSIDE, RANKS = range(8, 15)
UNKNOWN = (LOST, OUTSIDE)
NAMES = WAIT_NAMES

# SPDX-License-Identifier: MIT
"""The states of a leg at a time (docs/times.md); if several apply, the first one is taken."""

from __future__ import annotations

from ...records.wait_names import LOST_IN as LOST_IN
from ...records.wait_names import WAIT_NAMES

BUSY, QDISC, SOCKET, SOFTIRQ, BACKLOG, SENDING, QUEUE, REASSEMBLY = range(8)
OTHERS, INTERRUPTS, OFF, UNPROBED, LISTED, LOST, OUTSIDE, RANKS = range(8, 16)
UNKNOWN = (LOST, OUTSIDE)
NAMES = WAIT_NAMES

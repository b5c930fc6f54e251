# SPDX-License-Identifier: MIT
"""Which of the lab's tests run every time."""

from __future__ import annotations

from tests.lab.fixture import LONG

# All events switched on and off under traffic: longer than an emulated machine has time.
collect_ignore = [] if LONG else ["events/test_storm.py"]

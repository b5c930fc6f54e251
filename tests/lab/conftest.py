# SPDX-License-Identifier: MIT
"""Which of the lab's tests run every time."""

from __future__ import annotations

from tests.lab.fixture import LONG

# What treats the module badly takes an emulated machine half an hour: `make lab-long`.
collect_ignore = [] if LONG else ["test_safety.py", "events/test_storm.py"]

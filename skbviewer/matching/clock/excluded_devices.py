# SPDX-License-Identifier: MIT
"""Decide whether time stamps exclude a device, although the log lacks records at unknown times.

Input: the packets of a capture, and their moments at a device.  Output: whether the capture was
certainly not taken at the device.

A log that lacks records may lack a packet's moment at the device of the capture, or all calls of
the packet's lifetime.  A packet without its moment contradicts the device, because it is paired
with another moment or lifetime.  So a device is excluded by many packets, but not by a few.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Int64s

# A packet's lifetime has about this many calls on which its moment at a device depends.
CALLS = 10
SURELY, FEWEST = 0.05, 3  # more packets contradict a wrong device: share, and number
BLOCK = 64  # packets for which a clock neither drifts nor is set


def is_excluded(captured: Int64s, low: Int64s, high: Int64s, missing: float) -> bool:
    """Return whether more packets contradict a device than the log can lack moments there.

    `captured` are the times of the packets, in the order of the capture.  The log has a packet's
    moment at the device between `low` and `high`; all times are in ns.  `missing` is the share (0
    to 1) of the hits that the log lacks.
    """
    count = len(captured)
    agree = sum(
        _most_at_once(captured[at : at + BLOCK] - high[at : at + BLOCK],
                      captured[at : at + BLOCK] - low[at : at + BLOCK])
        for at in range(0, count, BLOCK)
    )  # fmt: skip
    return count - agree > max(FEWEST, (SURELY + CALLS * missing) * count)


def _most_at_once(begin: Int64s, end: Int64s) -> int:
    """Return the greatest number of intervals (`begin` to `end`) that have a value in common."""
    place = np.concatenate([begin, end])
    step = np.repeat([1, -1], len(begin))
    order = np.lexsort((-step, place))  # intervals that touch have a value in common
    return int(np.cumsum(step[order]).max(initial=0))

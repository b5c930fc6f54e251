# SPDX-License-Identifier: MIT
"""The calls of one kernel log, whatever packets they have, for joining them with marks."""

from __future__ import annotations

from typing import NamedTuple

from ...records.types import Int64s

UNKNOWN = -1


class LogCalls(NamedTuple):
    """The calls of a kernel log that returned, in order of their returns, each call once.

    `entry_ns` and `exit_ns` are times on the log's clock.  If the entry of a call was not recorded,
    `entry_ns` is UNKNOWN.  `function` is the address of the function (signed).  `context` is 0 for
    tasks and greater for interrupts.  `thread` is the same number for all calls of a thread, see
    records.execution_context.  `self_ns` is the self time, and `off_ns` the time in which the
    thread was switched out.  `self_ns` and `off_ns` are UNKNOWN for calls without a packet.
    """

    entry_ns: Int64s
    exit_ns: Int64s
    function: Int64s
    context: Int64s
    thread: Int64s
    self_ns: Int64s
    off_ns: Int64s

# SPDX-License-Identifier: MIT
"""The calls of one kernel log, whatever packet they have: what marks are joined with."""

from __future__ import annotations

from typing import NamedTuple

from ...records.types import Int64s

UNKNOWN = -1


class LogCalls(NamedTuple):
    """The calls of a kernel log that returned, in the order of their returns; each call once.

    `entry_ns` and `exit_ns` are times on the log's clock; a return whose entry was not recorded has
    the entry UNKNOWN.  `function` is the address of the function (signed), `context` is 0 for tasks
    and greater for interrupts, `thread` says which calls are of one thread, see
    records.execution_context.  `self_ns` is the self time, and `off_ns` how long the thread was
    switched out; both are UNKNOWN for calls of no packet.
    """

    entry_ns: Int64s
    exit_ns: Int64s
    function: Int64s
    context: Int64s
    thread: Int64s
    self_ns: Int64s
    off_ns: Int64s

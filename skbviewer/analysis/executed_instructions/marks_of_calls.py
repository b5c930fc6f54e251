# SPDX-License-Identifier: MIT
"""Find the marks that belong to the entry and to the return of each call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...readers.kernel_image.emulator_marks import ExecutedMarks
from ...records.types import Int64s
from .call_entry_marks import entry_marks
from .call_return_marks import exit_marks
from .kernel_log_calls import UNKNOWN, LogCalls


class MarkedCalls(NamedTuple):
    """For each call, the rows of two marks: of its entry and of its return.

    A call may have a mark of its return but none of its entry.  A row is UNKNOWN if the call has no
    mark of its entry (or return).
    """

    entered: Int64s
    returned: Int64s


def marked_calls(
    calls: LogCalls, losses: Sequence[tuple[int, int]], marks: ExecutedMarks
) -> MarkedCalls:
    """Return the marks of the calls of one log.

    `losses` are the times (begin, end) in which the log lost records, in ns.
    """
    exits = np.flatnonzero(marks.is_exit)
    joined = exit_marks(calls.exit_ns, marks.executed[exits], losses)
    returned = np.where(joined != UNKNOWN, np.append(exits, UNKNOWN)[joined], UNKNOWN)
    return MarkedCalls(entry_marks(calls, returned, marks), returned)

# SPDX-License-Identifier: MIT
"""Which marks belong to the entry and the return of each call."""

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
    """For each call the rows of its marks: of its entry and of its return.  UNKNOWN: it has none.

    A call may have only the mark of its return.
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

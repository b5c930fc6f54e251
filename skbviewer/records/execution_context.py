# SPDX-License-Identifier: MIT
"""The execution context of a record: a task, or the softirq, hardirq or NMI of one CPU."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records.types import Int64s


def execution(
    context: npt.NDArray[np.integer], pid: npt.NDArray[np.integer], cpu: npt.NDArray[np.integer]
) -> Int64s:
    """Return a number for each record; records of one execution context have equal numbers.

    `context`, `pid` and `cpu` are the records' columns. Tasks are identified by thread id. The idle
    task and interrupts are identified by CPU, because every CPU has them.
    """
    by_cpu = -((context.astype(np.int64) << 20) + cpu + 1)
    return np.where((context == 0) & (pid > 0), pid, by_cpu)

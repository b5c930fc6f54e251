# SPDX-License-Identifier: MIT
"""Which execution context a record was made in: a task, or one CPU's softirq, hardirq or NMI."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]


def execution(
    context: npt.NDArray[np.integer], pid: npt.NDArray[np.integer], cpu: npt.NDArray[np.integer]
) -> Index:
    """A number for each record that is equal within one execution context.

    Tasks are told by thread id; the idle task and interrupts by CPU, because each CPU has its own.
    """
    by_cpu = -((context.astype(np.int64) << 20) + cpu + 1)
    return np.where((context == 0) & (pid > 0), pid, by_cpu)

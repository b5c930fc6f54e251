# SPDX-License-Identifier: MIT
"""The cost of one probe in a log, from the log's calibration (docs/counter-and-calibration.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...records.types import Int64s

if TYPE_CHECKING:
    from ..scope import Scope

# META keys: the duration that is recorded for a probed call with a packet that does nothing, and
# the time that such a call adds to the duration of a probed caller.
EMPTY, NESTED = "calibration.tau_skb_empty", "calibration.tau_skb_nested"


def costs_of(scope: Scope) -> tuple[Int64s, Int64s]:
    """Return (edge, step): what one probe costs in each log, in ns.

    `edge` is the cost inside the probed call, at each of its two ends.  `step` is the cost outside
    the probed call, once before and once after it.  `edge` and `step` are 0 if the log was not
    calibrated.
    """
    edge, step = np.zeros((2, max(len(scope.kernels), 1)), np.int64)
    for row, source in enumerate(sorted(scope.kernels)):
        edge[row], step[row] = _costs(scope.kernels[source].names.meta)
    return edge, step


def _costs(meta: Mapping[str, str]) -> tuple[int, int]:
    try:
        empty, nested = int(meta.get(EMPTY, "0")), int(meta.get(NESTED, "0"))
    except ValueError:
        return 0, 0
    return max(empty, 0) // 2, max(nested - empty, 0) // 2

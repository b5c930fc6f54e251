# SPDX-License-Identifier: MIT
"""Names for types of arrays, and the limits of numbers and times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Int8s = npt.NDArray[np.int8]
UInt64s = npt.NDArray[np.uint64]
UInt32s = npt.NDArray[np.uint32]
UInt8s = npt.NDArray[np.uint8]
UInt16s = npt.NDArray[np.uint16]
Float64s = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

INT64_MAX = (1 << 63) - 1
EARLIEST_NS = -(1 << 63)  # before all times
LATEST_NS = INT64_MAX  # after all times

# SPDX-License-Identifier: MIT
"""The addresses that packets had in each leg: NAT changes them, and tunnels add some.

Input: the footprints of a KBL, and its legs.  Output: columns of table `address`, by leg and time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...matching import KernelSide
from ...records import parts

ENDS = ("ip_version", "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo")


def addresses(kernel_side: KernelSide) -> dict[str, npt.NDArray[np.generic]]:
    """Return the rows of table `address`: each pair of addresses of a series, once.

    It is in the leg that had the pair first; `leg` counts from 0.
    """
    prints = kernel_side.prints
    leg = kernel_side.legs.of[prints.record].astype(np.int64)
    shown = parts(prints.rows, ENDS, prints.number)
    known = np.flatnonzero((leg >= 0) & (np.asarray(shown["ip_version"]) != 0))
    columns = [leg[known], *(np.asarray(shown[name])[known].astype(np.int64) for name in ENDS)]
    if not len(known):
        return dict(zip(("leg", *ENDS), columns, strict=True))
    order = np.lexsort((prints.record[known], *columns[::-1]))
    rows = np.stack(columns)[:, order]
    new = np.r_[True, (np.diff(rows, axis=1) != 0).any(axis=0)]
    first = order[new]  # the earliest of equal rows
    first = first[np.lexsort((prints.record[known][first], columns[0][first]))]
    return dict(zip(("leg", *ENDS), (column[first] for column in columns), strict=True))

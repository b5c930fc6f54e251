# SPDX-License-Identifier: MIT
"""The IP addresses that packets had in each leg: NAT changes them, and tunnels add more.

Input: the footprints and the legs of a KBL.  Output: columns of table `address`, sorted by leg and
time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...matching import KernelSide
from ...records import parts
from ...records.types import Bools, Int64s

ENDS = ("ip_version", "saddr_hi", "saddr_lo", "daddr_hi", "daddr_lo")


def addresses(kernel_side: KernelSide) -> dict[str, npt.NDArray[np.generic]]:
    """Return the columns of table `address`: the pairs of IP addresses that footprints show.

    A pair of addresses is stored only once for each leg.  Column `leg` is 0-based.
    """
    prints = kernel_side.prints
    leg = kernel_side.legs.of[prints.record].astype(np.int64)
    shown = parts(prints.rows, ENDS, prints.number)
    known = np.flatnonzero((leg >= 0) & (np.asarray(shown["ip_version"]) != 0))
    known = known[np.argsort(leg[known], kind="stable")]  # footprints are sorted by time
    columns = [leg[known], *(np.asarray(shown[name])[known].astype(np.int64) for name in ENDS)]
    first = _first_of_leg(columns)
    return dict(zip(("leg", *ENDS), (column[first] for column in columns), strict=True))


def _first_of_leg(columns: list[Int64s]) -> Int64s:
    """Return the indices of the rows that no earlier row equals; the first column must be sorted.

    Most legs have one pair of addresses, so most rows equal the row before them.
    """
    new = _changes(columns)
    rows = np.flatnonzero(new)
    again = np.flatnonzero(~_changes([columns[0][rows]]))  # legs that changed their addresses
    if len(again):
        several = np.isin(columns[0][rows], columns[0][rows[again]])
        some = rows[several]
        order = some[np.lexsort([column[some] for column in columns[::-1]])]
        new[order[~_changes([column[order] for column in columns])]] = False
    return np.flatnonzero(new)


def _changes(columns: list[Int64s]) -> Bools:
    """Return for each row whether it differs from the row before it; True for the first row."""
    made = np.ones(len(columns[0]), np.bool_)
    made[1:] = False
    for column in columns:
        made[1:] |= column[1:] != column[:-1]
    return made

# SPDX-License-Identifier: MIT
"""Select records by kind, flags and probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

ENTRY, EXIT, EVENT, LOST = 1, 2, 4, 5  # kbl.h enum kbl_kind
IP = (0x0800, 0x86DD)  # EtherTypes
SKB_IS_RET, SOCK = 0x10, 0x80  # kbl.h KBL_FLAG_*


MOST_PROBES = 1 << 22  # a log with more is garbage
MAX_COMPARED_BYTES = (
    24  # up to this size of all wanted numbers in bytes, comparing is faster than looking up
)


def is_among(values: npt.NDArray[np.integer], wanted: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Return for each of `values` whether it is in `wanted`; fast for many small values.

    The value -1 means unknown.

    `wanted` contains a few numbers, none of them negative.
    """
    if (
        len(wanted) * values.itemsize <= MAX_COMPARED_BYTES
    ):  # then comparing is faster than looking up
        found = np.zeros(len(values), np.bool_)
        for number in wanted:
            found |= values == number
        return found
    if int(values.max(initial=0)) >= 1 << 16:
        return np.isin(values, list(wanted))
    table = np.zeros(max([*wanted, int(values.max(initial=0))]) + 2, np.bool_)  # the last is -1's
    table[list(wanted)] = True
    return np.asarray(table[values])


def by_probe(numbers: Mapping[int, int]) -> npt.NDArray[np.uint8]:
    """Return an array of the numbers, indexed by probe id; 0 for probes without a number.

    All numbers must be below 256.
    """
    known = {probe: number for probe, number in numbers.items() if 0 <= probe < MOST_PROBES}
    made = np.zeros(max(known, default=-1) + 1, np.uint8)
    made[list(known)] = list(known.values())
    return made

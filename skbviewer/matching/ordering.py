# SPDX-License-Identifier: MIT
"""Grouping and stable sorting of millions of rows, several times as fast as np.unique and lexsort.

Numbers of 16 bits numpy sorts by radix, nearly sorted ones in one pass; what is needed for both is
numbers of small range in place of addresses.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

RADIX = 1 << 16
BLOCK = 1 << 16  # values looked up at once: they stay in the processor's cache


def blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """0 to `count` in slices of `size`."""
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


def by_number(numbers: npt.NDArray[np.integer]) -> Index:
    """The stable order of numbers from 0 on, as np.argsort gives it."""
    highest = int(numbers.max(initial=0))
    if highest < RADIX:
        return np.argsort(numbers.astype(np.uint16), kind="stable")
    order = np.argsort((numbers & (RADIX - 1)).astype(np.uint16), kind="stable")
    upper = numbers >> 16
    if highest < RADIX * RADIX:
        return order[np.argsort(upper[order].astype(np.uint16), kind="stable")]
    return order[np.argsort(upper[order], kind="stable")]


def fits(*counts: int) -> bool:
    """Whether one int64 has room for a number below each of `counts`, side by side."""
    total = 1
    for count in counts:
        total *= max(count, 1)
    return total < 1 << 63

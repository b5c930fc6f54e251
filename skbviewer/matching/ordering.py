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
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing, Knuth TAOCP 3, 6.4
PROBES = 64


def blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """0 to `count` in slices of `size`."""
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


def dense(values: npt.NDArray[np.integer]) -> Small:
    """A number for each value, equal where the values are, from 0 to below their count."""
    if not len(values):
        return np.zeros(0, np.int32)
    low, high = int(values.min()), int(values.max())
    if high - low < 4 * len(values) + RADIX:
        return _ranked(values, low, high)
    bits = 16
    while (found := _hashed(values.astype(np.int64, copy=False), bits)) is None:
        bits += 3
    return found


def _ranked(values: npt.NDArray[np.integer], low: int, high: int) -> Small:
    """dense() of numbers from low to high."""
    seen = np.zeros(high - low + 1, np.bool_)
    for rows in blocks(len(values)):
        seen[values[rows].astype(np.int64) - low] = True
    number = np.cumsum(seen, dtype=np.int32)
    number -= 1
    made = np.empty(len(values), np.int32)
    for rows in blocks(len(values)):
        made[rows] = number[values[rows].astype(np.int64) - low]
    return made


def _hashed(values: Index, bits: int) -> Small | None:
    """dense() by a hash table of 2**bits places; None if it is too small."""
    table = np.zeros(1 << bits, np.int64)
    used = np.zeros(1 << bits, np.bool_)
    slot = np.empty(len(values), np.int32)
    for rows in blocks(len(values)):
        block = values[rows]
        home = (block.view(np.uint64) * MULTIPLIER >> np.uint64(64 - bits)).astype(np.int32)
        if not _place(block, home, table, used):
            return None
        slot[rows] = home
    number = np.cumsum(used, dtype=np.int32)
    number -= 1
    for rows in blocks(len(values)):
        slot[rows] = number[slot[rows]]
    return slot


def _place(values: Index, slot: Small, table: Index, used: npt.NDArray[np.bool_]) -> bool:
    """Move `slot` of each value on to the place that holds it, taking free ones; False: full."""
    left = np.arange(len(values))
    mask = np.int32(len(table) - 1)
    for _ in range(PROBES):
        here, wanted = slot[left], values[left]
        free = ~used[here]
        table[here[free]] = wanted[free]  # of several values one gets it, the others go on
        used[here[free]] = True
        left = left[table[here] != wanted]
        if not len(left):
            return True
        slot[left] = slot[left] + np.int32(1) & mask
    return False


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

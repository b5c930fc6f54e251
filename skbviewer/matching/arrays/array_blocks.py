# SPDX-License-Identifier: MIT
"""Divide long arrays into blocks, and check whether several numbers fit into one 64-bit key."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK = 1 << 16  # values that are looked up at once: they stay in the processor's cache


def blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """Yield slices of `size` elements that together cover 0 to `count`; the last may be shorter."""
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


def fits(*counts: int) -> bool:
    """Return whether a key of several numbers fits into an int64; number i is below counts[i]."""
    total = 1
    for count in counts:
        total *= max(count, 1)
    return total < 1 << 63

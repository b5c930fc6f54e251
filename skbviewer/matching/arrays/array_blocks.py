# SPDX-License-Identifier: MIT
"""Slices of long arrays, and whether several numbers fit into one of 64 bits."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK = 1 << 16  # values looked up at once: they stay in the processor's cache


def blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """0 to `count` in slices of `size`."""
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


def fits(*counts: int) -> bool:
    """Whether one int64 has room for a number below each of `counts`, side by side."""
    total = 1
    for count in counts:
        total *= max(count, 1)
    return total < 1 << 63

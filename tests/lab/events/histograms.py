# SPDX-License-Identifier: MIT
"""What the kernel's hist triggers counted."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

KEYS = re.compile(r"(\w+): +(-?\d+)")
Counts = Counter[tuple[int, ...]]


def signed(value: int) -> int:
    """A u64 as the s64 it holds."""
    return value - (value >> 63 << 64)


def histogram(path: Path) -> Counts:
    """Return the hits of a hist trigger by its keys, in the order of the line."""
    found: Counts = Counter()
    for line in path.read_text().splitlines():
        if line.startswith("{"):
            *keys, (_, hits) = KEYS.findall(line)
            found[tuple(signed(int(value) % (1 << 64)) for _, value in keys)] = int(hits)
    return found

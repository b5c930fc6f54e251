# SPDX-License-Identifier: MIT
"""Times as text for people.  All times are whole ns."""

from __future__ import annotations


def duration(ns: int | None) -> str:
    """Return a time in a suitable unit: "85 ns", "17.3 µs", "2.041 ms"; "" if it is unknown."""
    if ns is None:
        return ""
    for limit, divisor, unit, digits in (
        (1_000, 1, "ns", 0),
        (1_000_000, 1_000, "µs", 1),
        (1_000_000_000, 1_000_000, "ms", 3),
    ):
        if abs(ns) < limit:
            return f"{ns / divisor:.{digits}f} {unit}"
    return f"{ns / 1_000_000_000:.3f} s"


def microseconds(ns: int | None) -> str:
    """Return a time as a number of µs for a column: "217.312"; "" if it is unknown."""
    if ns is None:
        return ""
    return f"{'-' if ns < 0 else ''}{abs(ns) // 1000:,}.{abs(ns) % 1000:03d}"

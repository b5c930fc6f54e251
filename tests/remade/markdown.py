# SPDX-License-Identifier: MIT
"""Tables in Markdown, and the formats of their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

SECOND = 1_000_000_000


def table(head: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> str:
    """Return a Markdown table; columns after the first `left` are aligned to the right."""
    rule = ["---" if at < left else "---:" for at in range(len(head))]
    lines = [head, rule, *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines)


def microseconds(ns: float) -> str:
    """Return a time in ns as microseconds with three digits after the point."""
    return f"{ns / 1000:,.3f}"


def time_of_day(ns: int) -> str:
    """Return ns since the epoch as UTC time of day with microseconds, as the thesis prints it."""
    return f"{datetime.fromtimestamp(ns // SECOND, UTC):%H:%M:%S}.{ns % SECOND // 1000:06}"


def percent(part: float, whole: float) -> str:
    """Return a share as "12.3"."""
    return f"{100 * part / whole:.1f}" if whole else ""

# SPDX-License-Identifier: MIT
"""What all commands print for people: lines of text, tables, progress, and warnings about the data.

File names, and texts of a session that somebody else made, may contain escape sequences of
terminals; only the display of progress may print escape sequences.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterable, Sequence

from ..readers.printable_names import printable


class Stderr:
    """Progress on stderr, at most ten times a second, and only on a terminal."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._last = 0.0

    def report(self, what: str, done: int, total: int) -> None:
        """Show that `done` of `total` units of `what` are done."""
        now = time.monotonic()
        if self._shown and now - self._last > 0.1:
            self._last = now
            print(f"\r{what}: {100 * done // max(total, 1):3d} %\033[K", end="", file=sys.stderr)

    def close(self) -> None:
        """Remove the progress line."""
        if self._last:
            print("\r\033[K", end="", file=sys.stderr)


def warn(warnings: Iterable[str]) -> int:
    """Print warnings about the data on stderr, one per line; return 1 if there are any, else 0."""
    listed = list(warnings)
    for warning in listed:
        print_line(f"warning: {warning}", error=True)
    return 1 if listed else 0


def print_line(text: str, error: bool = False) -> None:
    """Print one line on stdout, or on stderr if `error`; unprintable characters are escaped."""
    print(printable(text), file=sys.stderr if error else sys.stdout)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on stdout; unprintable characters are escaped."""
    for line in lines:
        print_line(line)


def print_columns(lines: Iterable[Sequence[str]], texts: Collection[int]) -> None:
    """Print rows of cells on stdout; each column is as wide as its longest cell.

    Columns whose numbers (from 0) are in `texts` are left-aligned; the others are right-aligned.
    """
    escaped = [[printable(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*escaped, strict=True)]
    for line in escaped:
        cells = (
            cell.ljust(width) if at in texts else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join(cells).rstrip())

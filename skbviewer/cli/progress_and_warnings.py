# SPDX-License-Identifier: MIT
"""What all commands print on stderr: their progress, and warnings about the data."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable

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
    """Print warnings about the data, each in one line; return 1 if there are any, else 0."""
    listed = list(warnings)
    for warning in listed:
        print(f"warning: {printable(warning)}", file=sys.stderr)
    return 1 if listed else 0

# SPDX-License-Identifier: MIT
"""A progress line on stderr: the share of the work that is done, and the time that is left."""

from __future__ import annotations

import sys
import time


class Progress:
    """Counts work in any unit.

    On a terminal, the progress line is redrawn; otherwise a line is written every ten seconds.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.terminal = sys.stderr.isatty()
        self.label = ""
        self.total = 0
        self.done = 0
        self.began = time.monotonic()
        self.shown = self.began

    def start(self, label: str, total: int) -> None:
        """Begin a phase, named `label`, that consists of `total` units of work."""
        self.label, self.total, self.done = label, max(1, total), 0
        self.began = self.shown = time.monotonic()

    def add(self, units: int) -> None:
        """Count `units` more units of work as done."""
        self.done += units
        now = time.monotonic()
        if self.quiet or now - self.shown < (0.2 if self.terminal else 10):
            return
        self.shown = now
        left = (now - self.began) * (self.total - self.done) / max(1, self.done)
        line = f"skbscan: {self.label}: {100 * self.done // self.total} %, {left:.0f} s left"
        print(
            f"\r{line}\033[K" if self.terminal else line,
            end="" if self.terminal else "\n",
            file=sys.stderr,
            flush=True,
        )

    def clear(self) -> None:
        """Remove the progress line from the terminal, if there is one."""
        if self.terminal and not self.quiet:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

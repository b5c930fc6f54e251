# SPDX-License-Identifier: MIT
"""How a long operation reports progress, and how it stops when the user cancels it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives progress reports.

    Every function that may take long has a Progress as an argument.
    """

    def report(self, what: str, done: int, total: int) -> None:
        """Report that `done` of `total` units (bytes or rows) of `what` are done.

        Raises Cancelled if the user asked the program to stop.
        """


class Part:
    """A Progress for one of several operations that users see as a single step.

    Reports go to `progress` under the name `what`; they are scaled to the range from `begin` to
    `end` of `total`.
    """

    def __init__(self, progress: Progress, what: str, begin: int, end: int, total: int) -> None:
        self._progress, self._what = progress, what
        self._begin, self._end, self._total = begin, end, total

    def report(self, what: str, done: int, total: int) -> None:
        """Report the progress scaled to this part of the step; `what` is ignored.

        Raises Cancelled.
        """
        at = self._begin + (self._end - self._begin) * done // max(total, 1)
        self._progress.report(self._what, at, self._total)


class Silent:
    """A Progress that ignores all reports."""

    def report(self, what: str, done: int, total: int) -> None:
        """Ignore the report."""
        return None

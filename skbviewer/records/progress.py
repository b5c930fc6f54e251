# SPDX-License-Identifier: MIT
"""How long work tells how far it is, and how it learns that it should stop."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Given to every function that may take long."""

    def report(self, what: str, done: int, total: int) -> None:
        """Tell that `done` of `total` units (bytes or rows) of `what` are done.

        Raises Cancelled when the user asked to stop.
        """


class Part:
    """A Progress for one of several works that together are one step to who looks at it.

    What it is told goes on as `what`, from `begin` to `end` of `total`.
    """

    def __init__(self, progress: Progress, what: str, begin: int, end: int, total: int) -> None:
        self._progress, self._what = progress, what
        self._begin, self._end, self._total = begin, end, total

    def report(self, what: str, done: int, total: int) -> None:
        """`what` is left out.  Raises Cancelled."""
        at = self._begin + (self._end - self._begin) * done // max(total, 1)
        self._progress.report(self._what, at, self._total)


class Silent:
    """A Progress nobody looks at."""

    def report(self, what: str, done: int, total: int) -> None:
        return None

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


class Silent:
    """A Progress nobody looks at."""

    def report(self, what: str, done: int, total: int) -> None:
        return None

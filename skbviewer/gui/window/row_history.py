# SPDX-License-Identifier: MIT
"""The rows that the user visited: Back and Forward, as in a browser."""

from __future__ import annotations

KEPT = 1000


class History:
    """Row ids in the order in which they were visited."""

    def __init__(self) -> None:
        self._visited: list[int] = []
        self._at = -1

    def clear(self) -> None:
        """Forget all visited rows."""
        self._visited, self._at = [], -1

    def visit(self, row_id: int) -> None:
        """Store that the user went to a row; rows that forward() would return are forgotten."""
        if self._at >= 0 and self._visited[self._at] == row_id:
            return
        self._visited = [*self._visited[: self._at + 1], row_id][-KEPT:]
        self._at = len(self._visited) - 1

    def back(self) -> int | None:
        """Go back in the history, and return the row there; None at its beginning."""
        return self._go(-1)

    def forward(self) -> int | None:
        """Go forward in the history, and return the row there; None at its end."""
        return self._go(1)

    def _go(self, step: int) -> int | None:
        if not 0 <= self._at + step < len(self._visited):
            return None
        self._at += step
        return self._visited[self._at]

# SPDX-License-Identifier: MIT
"""The errors a user can meet; everything else is a bug of ours and may crash."""

from __future__ import annotations

from pathlib import Path


class BadInput(Exception):
    """A file that cannot be used: says which, where (byte offset, None = all of it), why."""

    def __init__(self, path: Path | str, offset: int | None, why: str) -> None:
        self.path = Path(path)
        self.offset = offset
        self.why = why
        place = "" if offset is None else f" at byte {offset}"
        super().__init__(f"{self.path}{place}: {why}")


class Cancelled(Exception):
    """The user stopped a long piece of work; nothing of it is kept."""

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


class OtherVersion(BadInput):
    """A session that another version of the program wrote; `inputs` are the files it was made of.

    Read anew they make a session of this version that keeps its notes; () where it does not tell.
    """

    def __init__(self, path: Path, why: str, inputs: tuple[Path, ...]) -> None:
        super().__init__(path, None, why)
        self.inputs = inputs


class Cancelled(Exception):
    """The user stopped a long piece of work; nothing of it is kept."""

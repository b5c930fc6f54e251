# SPDX-License-Identifier: MIT
"""The errors that users may see.  Any other exception is a bug of skbviewer."""

from __future__ import annotations

from pathlib import Path


class BadInput(Exception):
    """A file that cannot be used: its path, the byte offset (None = all of it), and the reason."""

    def __init__(self, path: Path | str, offset: int | None, why: str) -> None:
        self.path = Path(path)
        self.offset = offset
        self.why = why
        place = "" if offset is None else f" at byte {offset}"
        name = str(path)
        if not name.isprintable():  # such as one with a line break: a message is one line
            name = name.encode("unicode_escape", "surrogateescape").decode("ascii")
        super().__init__(f"{name}{place}: {why}")


class OtherVersion(BadInput):
    """A session that another version of the program wrote.

    `inputs` are the files that the session was made from, or () if it does not contain their paths.
    Importing the session's input files again makes a session of this version, which keeps the notes
    of the old one.
    """

    def __init__(self, path: Path, why: str, inputs: tuple[Path, ...]) -> None:
        super().__init__(path, None, why)
        self.inputs = inputs


class Cancelled(Exception):
    """The user cancelled an operation; no part of its result is kept."""

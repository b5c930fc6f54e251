# SPDX-License-Identifier: MIT
"""Hash files, to find out whether a file is still the file that was imported."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..records import BadInput, Progress, Silent

PIECE = 1 << 18  # bytes; small enough to stay in the processor's cache
REPORT = 1 << 24  # bytes between two progress reports
HASHING = "hashing"  # every progress text begins with this


class FileHash:
    """Computes the SHA-256 of a file while other code reads the file."""

    def __init__(self) -> None:
        self.done, self._found = 0, hashlib.sha256()

    def add(self, piece: memoryview) -> None:
        """Add the bytes of the file that follow the first `done` bytes."""
        self._found.update(piece)
        self.done += len(piece)

    def of(self, path: Path, progress: Progress | None = None) -> str:
        """Return the hash of the file `path` in hex; read the bytes that were not passed to add().

        Raises BadInput and Cancelled.
        """
        watch: Progress = progress or Silent()
        due = self.done + REPORT
        piece = memoryview(bytearray(PIECE))  # one buffer for all pieces
        try:
            size = path.stat().st_size
            watch.report(f"{HASHING} {path.name}", self.done, size)
            with path.open("rb", buffering=0) as file:
                file.seek(self.done)
                while count := file.readinto(piece):
                    if self.done >= due:
                        watch.report(f"{HASHING} {path.name}", self.done, size)
                        due += REPORT
                    self.add(piece[:count])
            return self._found.hexdigest()
        except OSError as error:
            raise BadInput(path, None, f"cannot read: {error.strerror}") from error


def sha256(path: Path, progress: Progress | None = None) -> str:
    """Return the SHA-256 of the content of the file `path`, in hex.

    Raises BadInput and Cancelled.
    """
    return FileHash().of(path, progress)

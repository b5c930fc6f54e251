# SPDX-License-Identifier: MIT
"""Hash files, to find out whether a file is still the one that was imported."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..records import BadInput, Progress, Silent

PIECE = 1 << 18  # bytes; small enough to stay in the processor's cache
REPORT = 1 << 24  # bytes between two progress reports
HASHING = "hashing"  # every progress text begins with this


def sha256(path: Path, progress: Progress | None = None) -> str:
    """Return the SHA-256 of the content of the file `path`, in hex.

    Raises BadInput and Cancelled.
    """
    watch: Progress = progress or Silent()
    found, done, due = hashlib.sha256(), 0, 0
    piece = memoryview(bytearray(PIECE))  # one buffer for all pieces
    try:
        size = path.stat().st_size
        with path.open("rb", buffering=0) as file:
            while count := file.readinto(piece):
                if done >= due:
                    watch.report(f"{HASHING} {path.name}", done, size)
                    due += REPORT
                found.update(piece[:count])
                done += count
        return found.hexdigest()
    except OSError as error:
        raise BadInput(path, None, f"cannot read: {error.strerror}") from error

# SPDX-License-Identifier: MIT
"""What tells whether a file is the one that was imported."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..records import BadInput, Progress, Silent

PIECE = 1 << 18  # bytes: they stay in the processor's cache from one to the next
REPORT = 1 << 24  # bytes between two reports
HASHING = "hashing"  # begins what is reported


def sha256(path: Path, progress: Progress | None = None) -> str:
    """Of the file's bytes, in hex.  Raises BadInput and Cancelled."""
    watch: Progress = progress or Silent()
    found, done, due = hashlib.sha256(), 0, 0
    piece = memoryview(bytearray(PIECE))  # the same memory for all, so that none is made anew
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

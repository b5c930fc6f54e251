# SPDX-License-Identifier: MIT
"""What tells whether a file is the one that was imported."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..records import BadInput, Progress, Silent

PIECE = 1 << 24  # bytes between two reports
HASHING = "hashing"  # begins what is reported


def sha256(path: Path, progress: Progress | None = None) -> str:
    """Of the file's bytes, in hex.  Raises BadInput and Cancelled."""
    watch: Progress = progress or Silent()
    found, done = hashlib.sha256(), 0
    try:
        size = path.stat().st_size
        with path.open("rb", buffering=0) as file:
            while piece := file.read(PIECE):
                watch.report(f"{HASHING} {path.name}", done, size)
                found.update(piece)
                done += len(piece)
        return found.hexdigest()
    except OSError as error:
        raise BadInput(path, None, f"cannot read: {error.strerror}") from error

# SPDX-License-Identifier: MIT
"""What tells whether a file is the one that was imported."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..records import BadInput


def sha256(path: Path) -> str:
    """Of the file's bytes, in hex.  Raises BadInput."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(path, None, f"cannot read: {error.strerror}") from error

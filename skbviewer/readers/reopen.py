# SPDX-License-Identifier: MIT
"""Reopen imported files to read packet bytes, which sessions do not contain."""

from __future__ import annotations

import mmap
from pathlib import Path

from ..records import BadInput
from .compression import is_packed, unpack


def open_again(path: Path, size: int) -> mmap.mmap:
    """Return the decompressed contents of a source file that had `size` bytes when imported.

    Raises BadInput if the file cannot be read or its size has changed.
    """
    try:
        with path.open("rb") as file:
            if path.stat().st_size != size:
                raise BadInput(path, None, "has changed since it was imported")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        why = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise BadInput(path, None, why) from error
    magic = mapped[:4]
    if not is_packed(magic):
        return mapped
    plain = unpack(path, magic).mapped
    assert plain is not None
    return plain

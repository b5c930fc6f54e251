# SPDX-License-Identifier: MIT
"""Memory for the columns of large files: of a file's pages, which the kernel may write and drop.

So what an import needs at once is not all that it made.  The file has no name and is gone when
nobody has a column of it any more, also after a crash.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

LARGE = 1 << 30  # bytes of columns from which on they lie in a file
ALIGNED = 64  # bytes


class Room:
    """Gives arrays of up to `size` bytes in all; they begin with zeros where they lie in a file."""

    def __init__(self, size: int, count: int, folder: Path | None) -> None:
        """For so many arrays; without a `folder`, or where its disk is full, in plain memory."""
        self._map: mmap.mmap | None = None
        self._at = 0
        if folder is not None and size >= LARGE:
            self._map = _mapped(size + count * ALIGNED, folder)

    def take(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array for `count` values."""
        if self._map is None:
            return np.empty(count, dtype)
        made = np.frombuffer(self._map, dtype, count, self._at)
        self._at += -(-made.nbytes // ALIGNED) * ALIGNED
        return made

    def release(self) -> Callable[[], None] | None:
        """forget(), if it does anything."""
        return self.forget if self._map is not None else None

    def forget(self) -> None:
        """The pages need not stay in the process's memory; they come back when they are used."""
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)


def _mapped(size: int, folder: Path) -> mmap.mmap | None:
    try:
        with TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, size)
            return mmap.mmap(file.fileno(), size)
    except OSError:
        return None

# SPDX-License-Identifier: MIT
"""Memory for the arrays of a large import: mapped files, whose pages the kernel may drop.

An import may therefore use arrays that are larger than the memory. The files have no names. The
kernel deletes a file when its array is freed, or when the process ends.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

LARGE_BYTES = 1 << 29  # records or packets of at least this many bytes are stored in files
SMALLEST_FILE = 1 << 22  # bytes of the smallest array that is stored in a file
KEPT = 16  # blocks of rows whose pages stay in memory

Array = npt.NDArray[Any]


class Scratch:
    """Allocates arrays; if it has a folder, large arrays are in files there."""

    def __init__(self, folder: Path | None = None) -> None:
        """Allocate large arrays in files in `folder`.

        Without a folder, or if its disk is full, all arrays are in ordinary memory.
        """
        self._folder, self._blocks = folder, 0
        self._maps: WeakSet[mmap.mmap] = WeakSet()

    @classmethod
    def for_rows(cls, size: int, folder: Path | None) -> Scratch:
        """Return a Scratch for rows that take `size` bytes, and for arrays made from these rows.

        The result uses `folder` if the rows are large.
        """
        return cls(folder if size >= LARGE_BYTES else None)

    @property
    def in_files(self) -> bool:
        """Return whether large arrays are in files; otherwise forget() has no effect."""
        return self._folder is not None

    def take(self, count: int, dtype: npt.DTypeLike) -> Array:
        """Return an uninitialised array of `count` values; a large array is in a file."""
        size = count * np.dtype(dtype).itemsize
        mapped = self._mapped(size) if self._folder is not None and size >= SMALLEST_FILE else None
        return np.empty(count, dtype) if mapped is None else np.frombuffer(mapped, dtype, count)

    def full(self, count: int, dtype: npt.DTypeLike, value: int) -> Array:
        """Return an array of `count` values, all equal to `value`; a large array is in a file."""
        made = self.take(count, dtype)
        if value or made.base is None:  # a new file already contains zeros
            made[:] = value
        return made

    def keep(self, values: Array) -> Array:
        """Return `values` or, if they are large and there is a folder, a copy of them in a file."""
        if self._folder is None or values.nbytes < SMALLEST_FILE:
            return values
        made = self.take(len(values), values.dtype)
        made[:] = values
        return made

    def forget(self) -> None:
        """Let the kernel drop all pages of the arrays, and read them again when needed."""
        for mapped in self._maps:
            mapped.madvise(mmap.MADV_DONTNEED)

    def passed(self) -> None:
        """Count a processed block of some ten thousand rows; drop old blocks' pages."""
        self._blocks += 1
        if self._blocks % KEPT == 0:
            self.forget()

    def _mapped(self, size: int) -> mmap.mmap | None:
        try:
            with TemporaryFile(dir=self._folder) as file:
                os.posix_fallocate(file.fileno(), 0, size)
                mapped = mmap.mmap(file.fileno(), size)
        except OSError:
            return None
        self._maps.add(mapped)
        return mapped


class Gathered:
    """An array that is built from parts, whose number is not known before."""

    def __init__(self, scratch: Scratch, dtype: npt.DTypeLike) -> None:
        self._room, self._dtype = scratch, np.dtype(dtype)
        self._kept: list[Array] = []
        self._new: list[Array] = []
        self._size = 0  # bytes in _new

    def add(self, part: Array) -> None:
        """Append the values of `part`. If arrays are in files, small parts are copied together."""
        self._new.append(part)
        self._size += part.nbytes
        if self._room.in_files and self._size >= SMALLEST_FILE:
            self._kept.append(self._room.keep(np.concatenate(self._new)))
            self._new, self._size = [], 0

    def whole(self) -> Array:
        """Return all values in the type of the first part, or in a wider type if a part needs that.

        Call this method only once: it frees the parts.
        """
        parts = [*self._kept, *self._new]
        self._kept, self._new = [], []
        dtype = np.result_type(self._dtype, *{part.dtype for part in parts})
        made, begin = self._room.take(sum(map(len, parts)), dtype), 0
        parts.reverse()
        while parts:
            part = parts.pop()  # its memory is freed in the next turn
            made[begin : begin + len(part)] = part
            begin += len(part)
        return made

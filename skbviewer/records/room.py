# SPDX-License-Identifier: MIT
"""Memory for the arrays of a large import: file pages, which the kernel may write and drop.

So what an import needs at once is not all that it made.  The files have no name, and one is gone
when nobody has its array any more, also after a crash.
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

LARGE = 1 << 29  # bytes of records or packets from which on they lie in files
LEAST = 1 << 22  # bytes of an array that is worth a file
KEPT = 16  # blocks of rows of which the pages stay in memory

Array = npt.NDArray[Any]


class Room:
    """Gives arrays that lie in files, where they are large and there is a folder for them."""

    def __init__(self, folder: Path | None = None) -> None:
        """Without a `folder`, or where its disk is full, all is in plain memory."""
        self._folder, self._blocks = folder, 0
        self._maps: WeakSet[mmap.mmap] = WeakSet()

    @classmethod
    def for_rows(cls, size: int, folder: Path | None) -> Room:
        """For rows of so many bytes and what is made of them: in `folder`, where it is much."""
        return cls(folder if size >= LARGE else None)

    @property
    def in_files(self) -> bool:
        """Whether forget() does anything for arrays that are large."""
        return self._folder is not None

    def take(self, count: int, dtype: npt.DTypeLike) -> Array:
        """An array for `count` values; they are anything before they are set."""
        size = count * np.dtype(dtype).itemsize
        mapped = self._mapped(size) if self._folder is not None and size >= LEAST else None
        return np.empty(count, dtype) if mapped is None else np.frombuffer(mapped, dtype, count)

    def full(self, count: int, dtype: npt.DTypeLike, value: int) -> Array:
        """An array of `count` values that are all `value`."""
        made = self.take(count, dtype)
        if value or made.base is None:  # a new file is zeros
            made[:] = value
        return made

    def keep(self, values: Array) -> Array:
        """The same values where they take no plain memory."""
        if self._folder is None or values.nbytes < LEAST:
            return values
        made = self.take(len(values), values.dtype)
        made[:] = values
        return made

    def forget(self) -> None:
        """No page need stay in the process's memory; they come back when they are used."""
        for mapped in self._maps:
            mapped.madvise(mmap.MADV_DONTNEED)

    def passed(self) -> None:
        """A block of some ten thousand rows is begun: what came long before is forgotten."""
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
    """One array that comes in parts."""

    def __init__(self, room: Room, dtype: npt.DTypeLike) -> None:
        self._room, self._dtype = room, np.dtype(dtype)
        self._kept: list[Array] = []
        self._new: list[Array] = []
        self._size = 0  # bytes of new ones

    def add(self, part: Array) -> None:
        """Append values, of which a copy is taken where that is needed."""
        self._new.append(part)
        self._size += part.nbytes
        if self._room.in_files and self._size >= LEAST:
            self._kept.append(self._room.keep(np.concatenate(self._new)))
            self._new, self._size = [], 0

    def whole(self) -> Array:
        """All of them, of the type of the first or a wider one that the parts need.

        To be called once: they are given away.
        """
        parts = [*self._kept, *self._new]
        self._kept, self._new = [], []
        dtype = np.result_type(self._dtype, *{part.dtype for part in parts})
        made, begin = self._room.take(sum(map(len, parts)), dtype), 0
        parts.reverse()
        while parts:
            part = parts.pop()  # its memory is free then
            made[begin : begin + len(part)] = part
            begin += len(part)
        return made

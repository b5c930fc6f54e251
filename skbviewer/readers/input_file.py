# SPDX-License-Identifier: MIT
"""An input file during an import: its bytes are read into memory part by part.

If the file is truncated while it is read, this class raises BadInput; with a mapped file, reading
beyond the new end would end the program.
"""

from __future__ import annotations

from io import FileIO
from pathlib import Path
from typing import Protocol

import numpy as np

from ..records import BadInput
from ..records.types import UInt8s
from .numbers_in_bytes import forget

PIECE = 1 << 18  # bytes that are read and hashed at once: they stay in the processor's cache
AHEAD = 1 << 12  # bytes to read beyond the wanted ones, because they are mostly wanted next
WINDOW = 1 << 18  # bytes that readers walk through together: they stay in the processor's cache


class Hashed(Protocol):
    """A hash of the beginning of a file: of `done` bytes so far."""

    done: int

    def add(self, piece: memoryview) -> None:
        """Add the bytes that follow the first `done` bytes of the file."""


class Source:
    """Reads the bytes of a file that had `size` bytes when it was opened."""

    def __init__(
        self,
        path: Path,
        size: int,
        file: FileIO | None,
        plain: UInt8s | None = None,
        hashed: Hashed | None = None,
    ) -> None:
        """Read from `file`, or from `plain` if it is given.

        `plain` are the decompressed contents of a compressed file, mapped from a private file.
        `hashed` gets the bytes of `file`, as long as they are read in order.
        """
        self.path = path
        self._size, self._file, self._plain, self._hashed = size, file, plain, hashed
        self._room = np.empty(0, np.uint8)
        self._begin = self._end = 0  # the part of the file that is in _room

    def __len__(self) -> int:
        return self._size

    def read(self, begin: int, end: int) -> UInt8s:
        """Return the bytes from `begin` to `end`, or to the end of the file if that comes first.

        The bytes are valid until the next call.

        Raises BadInput if the file cannot be read or became shorter.
        """
        end = max(begin, min(end, self._size))
        if begin < self._begin or end > self._end:
            stop = min(end + AHEAD, self._size)
            if len(self._room) < stop - begin:
                self._room = np.empty(2 * (stop - begin), np.uint8)
            self._begin = self._end = 0
            self.fill(self._room[: stop - begin], begin)
            self._begin, self._end = begin, stop
        return self._room[begin - self._begin : end - self._begin]

    def read_at_least(self, at: int, least: int, most: int) -> UInt8s:
        """Return at least `least` bytes from `at` on, or fewer at the end of the file.

        If at least `least` of these bytes are in memory already, returns them; otherwise, `most`
        bytes are read.  Raises BadInput like read().
        """
        loaded = self._begin <= at and min(at + least, self._size) <= self._end
        return self.read(at, self._end if loaded else at + most)

    def _hash(self, piece: memoryview, at: int) -> None:
        """Hash the bytes of `piece` that follow the bytes hashed so far, if there are any."""
        if self._hashed is not None and at <= self._hashed.done < at + len(piece):
            self._hashed.add(piece[self._hashed.done - at :])

    def fill(self, buffer: UInt8s, at: int) -> None:
        """Fill `buffer` with the bytes from `at` on.  Raises BadInput like read()."""
        if self._plain is not None:
            buffer[:] = self._plain[at : at + len(buffer)]
            forget(self._plain, at, at + len(buffer))
            return
        assert self._file is not None
        done, view = 0, buffer.data
        try:
            self._file.seek(at)
            while done < len(buffer):
                count = self._file.readinto(view[done : done + PIECE])
                if not count:
                    why = f"the file shrank below its {self._size} bytes"
                    raise BadInput(self.path, at + done, f"{why} while it was read")
                self._hash(view[done : done + count], at + done)
                done += count
        except OSError as error:
            why = f"cannot be read: {(error.strerror or str(error)).lower()}"
            raise BadInput(self.path, at + done, why) from error

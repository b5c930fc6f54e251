# SPDX-License-Identifier: MIT
"""An input file while it is read: its bytes come into memory of the program, some at a time.

A file that is mapped ends the program when somebody cuts it short meanwhile; this one is told.
"""

from __future__ import annotations

from io import FileIO
from pathlib import Path

import numpy as np

from ..records import BadInput
from .wire import Bytes, forget

AHEAD = 1 << 12  # bytes read behind those that are asked for: mostly the next ones
WINDOW = 1 << 18  # bytes that readers walk through at once: they stay in the processor's cache


class Source:
    """Gives the bytes of a file that had so many when it was opened."""

    def __init__(
        self, path: Path, size: int, file: FileIO | None, plain: Bytes | None = None
    ) -> None:
        """`plain` is what was packed in the file, in a mapped file that nobody else has."""
        self.path = path
        self._size, self._file, self._plain = size, file, plain
        self._room = np.empty(0, np.uint8)
        self._begin = self._end = 0  # what of the file is in there

    def __len__(self) -> int:
        return self._size

    def read(self, begin: int, end: int) -> Bytes:
        """The bytes from `begin` up to `end`, fewer at the end of the file, until the next call.

        Raises BadInput where the file cannot be read, or is shorter than it was.
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

    def some(self, at: int, least: int, most: int) -> Bytes:
        """What is in memory from `at` on, as read(); if those are under `least` bytes, then `most`.

        Fewer are given only at the end of the file.
        """
        loaded = self._begin <= at and min(at + least, self._size) <= self._end
        return self.read(at, self._end if loaded else at + most)

    def fill(self, room: Bytes, at: int) -> None:
        """Fill `room` with the bytes from `at` on.  Raises BadInput as read()."""
        if self._plain is not None:
            room[:] = self._plain[at : at + len(room)]
            forget(self._plain, at, at + len(room))
            return
        assert self._file is not None
        done, view = 0, room.data
        try:
            self._file.seek(at)
            while done < len(room):
                count = self._file.readinto(view[done:])
                if not count:
                    why = f"the file was cut short to less than its {self._size} bytes"
                    raise BadInput(self.path, at + done, f"{why} while it was read")
                done += count
        except OSError as error:
            why = f"cannot be read: {(error.strerror or str(error)).lower()}"
            raise BadInput(self.path, at + done, why) from error

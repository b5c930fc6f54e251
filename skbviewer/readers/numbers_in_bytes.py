# SPDX-License-Identifier: MIT
"""Read numbers at any byte positions of a file, for many positions at once."""

from __future__ import annotations

import mmap
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import PACKET_MALFORMED, Table
from ..records.compiled import Int, compiled
from ..records.types import Bools, Int64s, UInt8s


def numbers_at(data: UInt8s, dtype: str) -> npt.NDArray[np.generic]:
    """Return an array whose element i is the number of the type `dtype` at byte i of `data`."""
    count = max(0, len(data) - np.dtype(dtype).itemsize + 1)
    return np.ndarray((count,), dtype, data if count else b"", strides=(1,) if count else None)


def forget(data: UInt8s, begin: int, end: int) -> None:
    """Let the kernel drop the pages of a mapped file that hold data[begin:end].

    The kernel reads these pages again at the next access.
    """
    base: object = data.base
    mapped = base.obj if isinstance(base, memoryview) else None
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        first = begin // mmap.PAGESIZE * mmap.PAGESIZE
        mapped.madvise(mmap.MADV_DONTNEED, first, end - first)


@compiled
def word(data: UInt8s, at: Int, little: bool) -> np.int64:
    """Return the four bytes at `at` as an unsigned number, little-endian if `little`.

    The caller has checked that `data` has these bytes.
    """
    a, b, c, d = data[at], data[at + 1], data[at + 2], data[at + 3]
    if little:
        a, b, c, d = d, c, b, a
    return np.int64(a) << 24 | np.int64(b) << 16 | np.int64(c) << 8 | np.int64(d)


class Block:
    """A block of packets during dissection: a part of each result column.

    The first access to a column fills it with its value in `unknown`, a table with one row.
    """

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]], unknown: Table) -> None:
        self._columns = columns
        self._unknown = unknown
        self._blank = set(columns)

    def __len__(self) -> int:
        return len(self._columns["offset"])

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return column `name`; at the first access, it is filled with the unknown value."""
        if name in self._blank:
            self[name] = self._unknown[name]
        return self._columns[name]

    def __setitem__(self, name: str, values: npt.ArrayLike) -> None:
        self._blank.discard(name)
        self._columns[name][...] = values

    def blank(self, name: str) -> npt.NDArray[Any]:
        """Return column `name` without filling it; the caller must write all its rows."""
        self._blank.discard(name)
        return self._columns[name]

    def memory(self, name: str) -> npt.NDArray[Any]:
        """Return a column that the caller may write; whoever writes it must call blank(), too."""
        return self._columns[name]

    @property
    def written(self) -> set[str]:
        """Return the names of the columns that have been written or read."""
        return set(self._columns) - self._blank

    def finish(self, names: Collection[str]) -> None:
        """Fill the columns of `names` that nobody has written with the unknown value."""
        for name in self._blank.intersection(names):
            self[name] = self._unknown[name]


Rows = Table | Block  # packets whose columns can be written


class Wire:
    """Big-endian numbers of a file.  The caller has checked that the numbers are inside `data`.

    `data` holds the bytes of the file from `begin` on, and at least 8 bytes after each position
    that is read.
    """

    def __init__(self, data: UInt8s, begin: int = 0) -> None:
        self.begin = begin
        self.data = data
        self._u8 = numbers_at(data, "u1")
        self._u16 = numbers_at(data, ">u2")
        self._u32 = numbers_at(data, ">u4")
        self._i64 = numbers_at(data, ">i8")

    def u8(self, at: Int64s) -> Int64s:
        """Return the byte at each position `at`, as int64."""
        return self._u8[at - self.begin].astype(np.int64)

    def u16(self, at: Int64s) -> Int64s:
        """Return the big-endian 16-bit number at each position `at`, as int64."""
        return self._u16[at - self.begin].astype(np.int64)

    def u32(self, at: Int64s) -> Int64s:
        """Return the big-endian 32-bit number at each position `at`, as int64."""
        return self._u32[at - self.begin].astype(np.int64)

    def le16(self, at: Int64s) -> Int64s:
        """Return the little-endian 16-bit number at each position `at`, as in IEEE 802.11."""
        return self.u8(at) | self.u8(at + 1) << 8

    def le32(self, at: Int64s) -> Int64s:
        """Return the little-endian 32-bit number at each position `at`."""
        return self.le16(at) | self.le16(at + 2) << 16

    def u48(self, at: Int64s) -> Int64s:
        """Return the big-endian 48-bit number at each position `at`: a MAC address."""
        return (self.u16(at) << 32) | self.u32(at + 2)

    def i64(self, at: Int64s) -> Int64s:
        """Return the big-endian signed 64-bit number at each position `at`."""
        return self._i64[at - self.begin].astype(np.int64)


class Frames(NamedTuple):
    """Packets during dissection: where the next header begins, and where the bytes end.

    `rows` are the row numbers of the packets.  `kind` is the type of the next header: first an
    EtherType, later an IP protocol.  Positions are in the file: `end` is after the last captured
    byte; `stop` is the end of the packet by its own lengths, whether captured or not.
    """

    rows: Int64s
    at: Int64s
    end: Int64s
    stop: Int64s
    kind: Int64s

    def selected(self, mask: Bools) -> Frames:
        """Return the frames that `mask` (one flag per frame) selects."""
        return Frames(*(column[mask] for column in self))

    def with_bytes(self, size: int) -> Frames:
        """Return the frames of which at least `size` bytes were captured from `at` on."""
        return self.selected(self.at + size <= self.end)

    def lacking(self, size: int | Int64s) -> Int64s:
        """Return the rows of packets that had, when sent, fewer than `size` bytes from `at` on."""
        return self.rows[self.at + size > self.stop]

    def after_header(self, size: int | Int64s, kind: Int64s) -> Frames:
        """Return the frames after a header of `size` bytes; the next header is of `kind`."""
        return self._replace(at=self.at + size, kind=kind)


def all_frames(parts: list[Frames]) -> Frames:
    """Return all frames of `parts`, in no particular order."""
    return Frames(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def fill(packets: Rows, rows: Int64s, **columns: Int64s) -> None:
    """Write `columns`, which have a value for each of `rows`, into these rows of a packet array."""
    for name, values in columns.items():
        packets[name][rows] = values


def mark_malformed(packets: Rows, rows: Int64s) -> None:
    """Set the flag PACKET_MALFORMED of the packets in `rows`."""
    packets["flags"][rows] |= PACKET_MALFORMED

# SPDX-License-Identifier: MIT
"""Decode EXT slots into footprints: headers and other facts about the packet of an skb."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import FOOTPRINT_DTYPE, ColumnTable, Scratch
from ...records.header_layout import IPV6_SIZE
from ...records.types import Int64s
from .footprint_slot_loops import COLUMN_SOURCES, LAYOUTS, NAMES, NARROW, UNKNOWN
from .slot_blocks import Column


class Planes(NamedTuple):
    """Memory for columns of any width: the same bytes as arrays of four integer types.

    Compiled code can fill these arrays.

    `which` are column numbers, as in NAMES.  Each value of a column has 1 << `shift` bytes.  A
    column of n-byte values begins at index `where` of the array of n-byte integers.
    """

    which: Int64s
    where: Int64s
    shift: Int64s
    one: npt.NDArray[np.int8]
    two: npt.NDArray[np.int16]
    four: npt.NDArray[np.int32]
    eight: Int64s


class FootprintTable:
    """All footprints of a file; row 0 is the unknown footprint."""

    def __init__(self, count: int, bits: npt.NDArray[np.uint64], scratch: Scratch) -> None:
        """Allocate row 0 and `count` more rows, with columns as narrow as Scan.bits allows."""
        count += 1
        self._in, self.count = scratch, count
        widths = np.array([_width(name, _most(name, bits)) for name in NAMES], np.int64)
        which = np.flatnonzero(widths)
        width = widths[which]
        sizes = -(-count * width // 8) * 8
        shift = np.array([int(w).bit_length() - 1 for w in width], np.int64)
        raw = scratch.take(int(sizes.sum()) // 8, np.int64)
        self.planes = Planes(
            which,
            (np.cumsum(sizes) - sizes) >> shift,
            shift,
            raw.view(np.int8),
            raw.view(np.int16),
            raw.view(np.int32),
            raw,
        )
        for c, column in self._filled_columns().items():
            column[0] = UNKNOWN[c]

    def table(self, count: int) -> ColumnTable:
        """Return the first `count` footprints.  A column takes no memory if no slot fills it."""
        made, filled = {}, self._filled_columns()
        for c, name in enumerate(NAMES):
            dtype = FOOTPRINT_DTYPE[name]
            if c not in filled:
                made[name] = np.broadcast_to(dtype.type(UNKNOWN[c]), count)
            else:
                made[name] = (
                    filled[c][:count] if dtype.kind == "i" else filled[c][:count].view(dtype)
                )
        return ColumnTable(FOOTPRINT_DTYPE, made, self._in)

    def _filled_columns(self) -> dict[int, Column]:
        """Return the columns that at least one slot fills, by column number."""
        widths: tuple[Column, ...] = self.planes[3:]
        columns = zip(*(values.tolist() for values in self.planes[:3]), strict=True)
        return {c: widths[shift][where:][: self.count] for c, where, shift in columns}


def _most(name: str, bits: npt.NDArray[np.uint64]) -> int:
    """Return an upper bound for the values in the column `name`; -1 if no slot fills it."""
    most = int(bits[0, 0]) if name == "sk" and bits[0, 0] else -1
    for type_, field in COLUMN_SOURCES[name]:
        if bits[type_].any():
            value = bits[type_].view(LAYOUTS[type_])[0][field]
            # Addresses are in network order; IPv6 slots hold the payload's length.
            number = int.from_bytes(value.tobytes(), "big") if value.ndim else int(value)
            most = max(most, number + IPV6_SIZE * (field == "payload_len"))
    return most


def _width(name: str, most: int) -> int:
    """Return how many bytes a column needs for -1 and numbers up to `most`; 0 if `most` is -1."""
    widest = FOOTPRINT_DTYPE[name].itemsize
    fits = (np.dtype(d).itemsize for d in NARROW if most <= np.iinfo(d).max)
    return min(next(fits, widest), widest) if most >= 0 else 0


def in_narrowest_type(column: Column) -> Column:
    """Return a column in the narrowest signed type that fits it, or unchanged if it is unsigned."""
    if column.dtype.kind != "i" or not len(column):
        return column
    return column.astype(_narrowest(column.dtype, int(column.min()), int(column.max())))


def _narrowest(dtype: npt.DTypeLike, low: int, high: int) -> npt.DTypeLike:
    if np.dtype(dtype).kind != "i":
        return dtype
    fits = (d for d in NARROW if np.iinfo(d).min <= low and high <= np.iinfo(d).max)
    return next(fits, dtype)

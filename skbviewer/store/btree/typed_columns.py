# SPDX-License-Identifier: MIT
"""Let compiled loops read columns of any type, although they accept only one type of array.

A loop gets the address and the type of each column.  The loop reads the values through `MEMORY`, an
array of bytes that begins at a low address and covers all memory.  Only Sources makes such
addresses, and only of arrays that it keeps alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...records.types import Int64s, UInt8s
from .typed_column_loops import FIRST, KINDS, Values


class _Memory:
    def __init__(self) -> None:
        self.__array_interface__: dict[str, Any] = {
            "version": 3, "typestr": "|u1", "data": (FIRST, True), "shape": (1 << 50,)
        }  # fmt: skip


MEMORY: UInt8s = np.asarray(_Memory())


def as_signed(values: Values) -> Values:
    """Return `values` as SQLite stores them: uint64 as int64 with equal bits, bool as uint8."""
    if values.dtype.kind == "b":
        return values.view(np.uint8)
    return values.view(np.int64) if values.dtype == np.uint64 else values


class Sources:
    """Columns of equal length (integers, or floats as the bits of float64), and their places.

    `places` has a row (KIND, PLACE, SAME) for each column; PLACE is an index into MEMORY, in units
    of the column's values.
    """

    def __init__(self, columns: Sequence[Values]) -> None:
        self.count = len(columns[0])
        self._arrays = [_plain(values) for values in columns]  # keeps their memory alive
        places = [_place(values, self.count) for values in self._arrays]
        self.places: Int64s = np.array(places, np.int64)


class StagedColumns(NamedTuple):
    """The places of named columns in memory, and the lowest and highest value of each."""

    sources: Sources
    number: dict[str, int]  # index of each column in `sources`
    bounds: Int64s  # (columns, 2): lowest and highest value of each


def _plain(values: Values) -> Values:
    """Return the values contiguous and in native byte order; only one value if all share memory."""
    if values.strides == (0,):
        values = values[:1]
    flags, dtype = values.flags, values.dtype
    if dtype.kind == "f":
        return np.require(values, np.float64, ["C", "A"])
    if not (flags.c_contiguous and flags.aligned and dtype.isnative):
        values = np.require(values, dtype.newbyteorder("="), ["C", "A"])
    return as_signed(values)


def _place(values: Values, count: int) -> tuple[int, int, int]:
    kind, size = KINDS[values.dtype.kind, values.itemsize], values.itemsize
    return kind, (values.__array_interface__["data"][0] - FIRST) // size, len(values) < count

# SPDX-License-Identifier: MIT
"""Packets and records column by column: what is done with them is done with whole columns.

A packet is the same in many records, so what they know of it is stored once: each record has the
number of its footprint.  Columns are stored as narrow as their values are and come out as
RECORD_DTYPE has them: ten million records take a quarter of what its rows would.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .arrays import FOOTPRINT, RECORD_DTYPE, Table, empty
from .room import Room

_NAMES = RECORD_DTYPE.names or ()
FOOTPRINT_NAMES = _NAMES[_NAMES.index(FOOTPRINT) :]
FOOTPRINT_DTYPE = np.dtype([(name, RECORD_DTYPE[name]) for name in FOOTPRINT_NAMES])

Column = npt.NDArray[Any]
Rows = slice | npt.NDArray[np.integer] | npt.NDArray[np.bool_]


_NARROW = ("<i1", "<i2", "<i4")


def narrow(values: Column) -> Column:
    """A copy of integers in as few bytes as do."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    fits = (d for d in _NARROW if np.iinfo(d).min <= low and high <= np.iinfo(d).max)
    return values.astype(next(fits, "<i8"))


class ColumnTable:
    """Looks like a structured array, but each column lies by itself, and is not for writing.

    `table["ts"]` is a column, `table[names]` an array of a few columns, `table[rows]` one of whole
    rows.
    """

    def __init__(
        self, dtype: np.dtype[np.void], columns: Mapping[str, Column], room: Room | None = None
    ) -> None:
        """`columns` are parallel; each may have a narrower type than `dtype` says.

        `room` is where they are, and where what is made of them goes.
        """
        self.dtype, self.room = dtype, room or Room()
        self._columns = columns
        self._size = len(next(iter(columns.values())))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[np.void]:
        return self[:]

    def tolist(self) -> list[Any]:
        """All rows as tuples."""
        return list(self[:].tolist())

    @overload
    def __getitem__(self, key: str) -> Column: ...
    @overload
    def __getitem__(self, key: list[str] | Rows) -> npt.NDArray[np.void]: ...
    @overload
    def __getitem__(self, key: int) -> np.void: ...

    def __getitem__(self, key: str | list[str] | Rows | int) -> Any:
        if isinstance(key, str):
            return self.part(key, slice(None))
        if isinstance(key, list):
            return self._rows(key, slice(None))
        names = list(self.dtype.names or ())
        if isinstance(key, (int, np.integer)):
            key = int(key) + (len(self) if key < 0 else 0)
            return self._rows(names, np.array([key]))[0]
        return self._rows(names, key)

    def part(self, name: str, rows: Rows) -> Column:
        """A column of some rows, without making the whole column first."""
        return _picked(self._columns[name], rows).astype(self.dtype[name], copy=False)

    def parts(self, names: Iterable[str], rows: Rows) -> dict[str, Column]:
        """Columns of some rows, each of the type it is stored in, or one value repeated."""
        return {name: _picked(self._columns[name], rows) for name in names}

    def only_rows(self, rows: Rows) -> ColumnTable:
        """These rows as a table of its own."""
        return ColumnTable(self.dtype, {n: column[rows] for n, column in self._columns.items()})

    def stored(self, name: str) -> Column:
        """A column as it lies here, perhaps of a narrower type than `dtype` says."""
        return self._columns[name]

    def _rows(self, names: list[str], rows: Rows) -> npt.NDArray[np.void]:
        dtype = np.dtype([(name, self.dtype[name]) for name in names])
        columns = [self.part(name, rows) for name in names]
        made = np.empty(len(columns[0]), dtype)
        for name, column in zip(names, columns, strict=True):
            made[name] = column
        return made


class RecordTable(ColumnTable):
    """Records: a ColumnTable of RECORD_DTYPE.

    `footprint` is the number of each record's row in `footprints`; row 0 knows nothing.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        footprint: npt.NDArray[np.int32],
        footprints: ColumnTable,
        room: Room | None = None,
    ) -> None:
        """`columns` has those of RECORD_DTYPE that are none of a footprint."""
        super().__init__(RECORD_DTYPE, columns, room)
        self.footprint, self.footprints = footprint, footprints

    def make_narrow(self, names: Collection[str]) -> None:
        """Store these columns in as few bytes as do, where they take memory."""
        for name in names if not self.room.in_files else ():
            self._columns = {**self._columns, name: narrow(self._columns[name])}

    def part(self, name: str, rows: Rows) -> Column:
        """A column of some rows, without making the whole column first."""
        if name in self._columns:
            return super().part(name, rows)
        return self.footprints.part(name, _picked(self.footprint, rows))

    def parts(self, names: Iterable[str], rows: Rows) -> dict[str, Column]:
        """Columns of some rows, each of the type it is stored in, or one value repeated."""
        names = tuple(names)
        made = super().parts((name for name in names if name in self._columns), rows)
        rest = [name for name in names if name not in made]
        number = _picked(self.footprint, rows) if rest else self.footprint[:0]
        return made | self.footprints.parts(rest, number)


def _picked(column: Column, rows: Rows) -> Column:
    """column[rows]; for numbers of rows take() needs a third less time."""
    if isinstance(rows, slice) or rows.dtype == np.bool_ or not len(rows):
        return column[rows]
    if column.strides == (0,):
        return np.broadcast_to(column[0], len(rows))
    return column.take(rows)


def no_footprints(count: int) -> ColumnTable:
    """`count` rows that know nothing, and row 0 before them; they are for writing."""
    unknown = empty(FOOTPRINT_DTYPE, 1)
    columns = {name: np.repeat(unknown[name], count + 1) for name in FOOTPRINT_NAMES}
    return ColumnTable(FOOTPRINT_DTYPE, columns)


Records = npt.NDArray[np.void] | RecordTable
Packets = npt.NDArray[np.void] | ColumnTable


def room_of(rows: Records | Packets) -> Room:
    """Where to put what is made of them."""
    return rows.room if isinstance(rows, ColumnTable) else Room()


def pick(rows: Records | Packets, index: npt.NDArray[np.int64]) -> Table:
    """rows[index], ten times as fast for wide rows: numpy copies struct by member otherwise."""
    if isinstance(rows, ColumnTable):
        return rows[index]
    whole = np.ascontiguousarray(rows).view(f"V{rows.dtype.itemsize}")
    return whole.take(index).view(rows.dtype)


def part(rows: Records | Packets, name: str, index: Rows) -> Column:
    """A column of some rows."""
    return rows.part(name, index) if isinstance(rows, ColumnTable) else rows[name][index]


def parts(
    rows: Records | Packets, names: Iterable[str], index: slice | npt.NDArray[np.integer]
) -> dict[str, Column]:
    """Columns of some rows, as narrow as they may be stored."""
    if isinstance(rows, ColumnTable):
        return rows.parts(names, index)
    return {name: rows[name][index] for name in names}

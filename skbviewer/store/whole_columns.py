# SPDX-License-Identifier: MIT
"""Read whole columns of a session's bulk tables as numpy arrays.

Arrays have the narrowest signed type that holds all values of the column, or float64.  Convert an
array to int64 before you subtract values whose difference may overflow.  Arrays are shared and
read-only.  Row numbers are 0-based: id - 1.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Engine, select

from ..records.types import Int64s
from . import schema
from .column_chunks import CHUNK, unpack
from .database import forget_pages
from .sqlalchemy_tables import chunk

MUCH = 1 << 20  # bytes of a read after which SQLite's pages are unmapped
FEW = 64  # chunks that are kept if one of their columns is searched
DENSE = 16  # all rows of a range are read to take one of so many
SHORT = 3 * CHUNK  # rows of a part of a long recording, whose columns are kept
BUDGET = 160 << 20  # bytes of arrays to cache; a part of 10 million packets needs 100 MiB
SIGNED = ("<i1", "<i2", "<i4", "<i8")

Array = npt.NDArray[Any]


class _Place(NamedTuple):
    """A row of table `chunk` without its data."""

    id: int
    number: int  # of values
    dtype: str
    low: int
    high: int


class Columns:
    """The column chunks of one session; methods may be called from several threads at once.

    Every method raises KeyError if the table or column has no chunks.
    """

    def __init__(self, engine: Engine, budget: int = BUDGET) -> None:
        self._engine = engine
        self._budget = budget
        self._lock = threading.Lock()
        self._places: dict[tuple[str, str], list[_Place]] | None = None
        self._dtypes: dict[tuple[str, str], str] = {}
        self._lengths: dict[str, int] = {}
        self._bounds: dict[tuple[str, str], tuple[Int64s, Int64s]] = {}
        self._kept: OrderedDict[tuple[str, str, int], Array] = OrderedDict()
        self._size = 0

    def stored_rows(self, table: str, rows: Int64s) -> Int64s:
        """Return for the 0-based `rows` of these columns the 0-based rows in the session file."""
        return rows

    def forget(self) -> None:
        """Free all cached arrays, because the caller will need much memory for a while."""
        with self._lock:
            self._kept.clear()
            self._size = 0

    def names(self, table: str) -> tuple[str, ...]:
        """Return the columns of `table` that have chunks."""
        return schema.CHUNKED[table] if table in schema.CHUNKED else schema.DERIVED[table]

    def length(self, table: str) -> int:
        """Return the number of rows of `table`."""
        if table not in self._lengths:
            places = self._of(table, self.names(table)[0])
            self._lengths[table] = sum(place.number for place in places)
        return self._lengths[table]

    def bounds(self, table: str, column: str) -> tuple[int, int]:
        """Return the lowest and the highest integer of a column without reading it.

        Returns (0, -1) if the column has no values.
        """
        places = self._of(table, column)
        low = min((place.low for place in places), default=0)
        return low, max((place.high for place in places), default=-1)

    def array(self, table: str, column: str) -> Array:
        """Return the whole column, and keep it in memory for later calls."""
        kept = self._get((table, column, -1))
        if kept is not None:
            return kept
        return self._keep((table, column, -1), self.once(table, column))

    def once(self, table: str, column: str) -> Array:
        """Return the whole column without keeping it, for code that reads it once."""
        kept = self._get((table, column, -1))
        if kept is not None:
            return kept
        places = self._of(table, column)
        out = np.empty(sum(place.number for place in places), self._dtype(table, column))
        self._read(places, out)
        return out

    def pieces(self, table: str, *columns: str) -> Iterator[tuple[int, tuple[Array, ...]]]:
        """Yield (first row, values of each column) for consecutive blocks of rows.

        The arrays are not cached.
        """
        first = 0
        for number, place in enumerate(self._of(table, columns[0])):
            yield first, tuple(self._piece(table, column, number) for column in columns)
            first += place.number
        if first * 8 > MUCH:
            with self._engine.connect() as db:
                forget_pages(db.exec_driver_sql)

    def _piece(self, table: str, column: str, number: int, keep: bool = False) -> Array:
        for key in ((table, column, -1), (table, column, number)):
            kept = self._get(key)
            if kept is not None:
                return kept if key[2] >= 0 else kept[number * CHUNK : (number + 1) * CHUNK]
        places = self._of(table, column)
        out = np.empty(places[number].number, self._dtype(table, column))
        self._read([places[number]], out)
        return self._keep((table, column, number), out) if keep else out

    def part(self, table: str, column: str, first: int, count: int) -> Array:
        """Return `count` values of a column from row `first` on; fewer at the end of the table."""
        whole = self._get((table, column, -1))
        if whole is not None:
            return whole[first : first + count]
        places = self._of(table, column)
        dtype = self._dtype(table, column)
        numbers = range(first // CHUNK, min(-(-(first + count) // CHUNK), len(places)))
        parts = [self._chunk(table, column, number, dtype) for number in numbers]
        if not parts:
            return np.empty(0, dtype)
        begin = first - numbers[0] * CHUNK
        joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return joined[begin : begin + count]

    def block(self, table: str, column: str, first: int, count: int) -> Array:
        """Return the values of part() without keeping them, for code that reads a column once."""
        whole = self._get((table, column, -1))
        if whole is not None:
            return whole[first : first + count]
        places = self._of(table, column)
        mine = places[first // CHUNK : -(-(first + count) // CHUNK)]
        out = np.empty(sum(place.number for place in mine), self._dtype(table, column))
        self._read(mine, out)
        return out[first % CHUNK :][:count]

    def take(self, table: str, column: str, rows: npt.NDArray[np.integer]) -> Array:
        """Return the values of a column at the 0-based `rows`, in the order of `rows`.

        Raises IndexError if there is no such row.
        """
        rows = np.asarray(rows)
        whole = self._get((table, column, -1))
        if whole is None and len(rows) * DENSE > self.length(table):
            whole = self.array(table, column)
        if whole is not None:
            return np.asarray(whole[rows])
        places = self._of(table, column)
        dtype = self._dtype(table, column)
        if not len(rows):
            return np.empty(0, dtype)
        first, last = int(rows.min()), int(rows.max())
        if first < 0 or last >= sum(place.number for place in places):
            raise IndexError(f"{table}.{column} has {sum(p.number for p in places)} rows")
        if len(rows) * DENSE > last - first:
            return self.part(table, column, first, last - first + 1).take(rows - first, mode="clip")
        return self._scattered(table, column, rows)

    def rows_with(
        self, table: str, column: str, values: npt.NDArray[np.integer]
    ) -> tuple[Int64s, Array]:
        """Return the 0-based rows whose value is one of `values`, and the values of these rows.

        The `values` must be sorted.  Only chunks that may have such rows are read, so it takes
        little time to find a few neighbouring rows of a sorted column.
        """
        low, high = self._chunk_bounds(table, column)
        begin, end = np.searchsorted(values, low), np.searchsorted(values, high, "right")
        found = [np.zeros(0, np.int64)]
        kept = [np.zeros(0, self._dtype(table, column))]
        hit = np.flatnonzero(begin < end).tolist()
        for number in hit:
            part = self._piece(table, column, number, len(hit) <= FEW)
            rows = _places_of(part, values[begin[number] : end[number]])
            found.append(rows + number * CHUNK)
            kept.append(part[rows])
        return np.concatenate(found), np.concatenate(kept)

    def _chunk_bounds(self, table: str, column: str) -> tuple[Int64s, Int64s]:
        """Return the lowest and the highest value of each chunk."""
        if (table, column) not in self._bounds:
            both = [(place.low, place.high) for place in self._of(table, column)]
            low, high = np.array(both, np.int64).reshape(-1, 2).T
            self._bounds[table, column] = low, high
        return self._bounds[table, column]

    def rows_during(
        self, table: str, begin: str, last: tuple[str, ...], times: tuple[int, int]
    ) -> Int64s:
        """Return the 0-based numbers, sorted, of rows that may be at work between two times.

        The result contains all rows that are at work between the two times.

        A row is at work from its time in column `begin` to the sum of its values in the columns
        `last`.  The result also contains other rows of the same chunks.
        """
        starts, *ends = (self._of(table, name) for name in (begin, *last))
        first = 0
        found = [np.zeros(0, np.int64)]
        for start, *end in zip(starts, *ends, strict=True):
            if start.low < times[1] and sum(one.high for one in end) > times[0]:
                found.append(np.arange(first, first + start.number))
            first += start.number
        return np.concatenate(found)

    def rows_within(self, table: str, column: str, spans: Sequence[tuple[int, int]]) -> Int64s:
        """Return the 0-based numbers, sorted, of all rows whose value is in one of the `spans`.

        A span is (first, last).  The result also contains other rows of the same chunks.
        """
        low, high = self._chunk_bounds(table, column)
        hit = np.zeros(len(low), np.bool_)
        for first, last in spans:
            hit |= (low <= last) & (high >= first)
        ends = np.minimum((np.arange(len(low)) + 1) * CHUNK, self.length(table))
        parts = [np.arange(at * CHUNK, ends[at]) for at in np.flatnonzero(hit).tolist()]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def near(self, table: str, column: str, rows: npt.NDArray[np.integer]) -> Array:
        """Return the values of a column at the 0-based `rows`, which must be sorted.

        The whole column is neither read nor kept, so this is for code that reads a table in blocks.
        """
        if not len(rows):
            return np.empty(0, self._dtype(table, column))
        first, span = int(rows[0]), int(rows[-1] - rows[0]) + 1
        if len(rows) * DENSE <= span:
            return self._sparse(table, column, rows)
        read = self.part if span <= SHORT else self.block  # part() keeps what it reads
        values = read(table, column, first, span)
        return values if span == len(rows) else np.asarray(values[rows - first])

    def _sparse(self, table: str, column: str, rows: npt.NDArray[np.integer]) -> Array:
        """Return the values at `rows`, which must be sorted, chunk by chunk."""
        out = np.empty(len(rows), self._dtype(table, column))
        first, last = int(rows[0]) // CHUNK, int(rows[-1]) // CHUNK
        bounds = np.searchsorted(rows, np.arange(first, last + 2) * CHUNK)
        hit = np.flatnonzero(bounds[1:] > bounds[:-1])
        for at in hit.tolist():
            mine = slice(int(bounds[at]), int(bounds[at + 1]))
            part = self._piece(table, column, first + at, len(hit) <= FEW)
            out[mine] = part[rows[mine] - (first + at) * CHUNK]
        return out

    def _scattered(self, table: str, column: str, rows: npt.NDArray[np.integer]) -> Array:
        dtype = self._dtype(table, column)
        out = np.empty(len(rows), dtype)
        number = rows // CHUNK
        for one in np.unique(number).tolist():
            mine = np.flatnonzero(number == one)
            out[mine] = self._chunk(table, column, one, dtype)[rows[mine] - one * CHUNK]
        return out

    def _chunk(self, table: str, column: str, number: int, dtype: str) -> Array:
        kept = self._get((table, column, number))
        if kept is not None:
            return kept
        place = self._of(table, column)[number]
        out = np.empty(place.number, dtype)
        self._read([place], out)
        return self._keep((table, column, number), out)

    def _read(self, places: list[_Place], out: Array) -> None:
        begin = 0
        # The driver's own connection is faster: many chunks are small.
        with closing(self._engine.raw_connection()) as db, closing(db.cursor()) as cursor:
            for place in places:
                data = b""
                if place.dtype:
                    cursor.execute("SELECT data FROM chunk WHERE id = ?", (place.id,))
                    (data,) = cursor.fetchone() or (b"",)
                unpack(place.dtype, place.low, data, out[begin : begin + place.number])
                begin += place.number
            if out.nbytes > MUCH:
                forget_pages(cursor.execute)

    def _dtype(self, table: str, column: str) -> str:
        """Return the type of a column's arrays, after looking at the bounds of all its chunks."""
        found = self._dtypes.get((table, column))
        if found is None:
            found = _narrowest(table, column, self._of(table, column))
            self._dtypes[table, column] = found
        return found

    def _of(self, table: str, column: str) -> list[_Place]:
        if column not in self.names(table):
            raise KeyError(f"no chunks of {table}.{column}")
        with self._lock:
            if self._places is None:
                self._places = self._all_places()
            return self._places.get((table, column), [])

    def _all_places(self) -> dict[tuple[str, str], list[_Place]]:
        found: dict[tuple[str, str], list[_Place]] = {}
        c = chunk.c
        wanted = select(c.table_name, c.column_name, c.id, c.count, c.dtype, c.low, c.high)
        with self._engine.connect() as db:
            for table, column, *place in db.execute(wanted.order_by(c.first)):
                found.setdefault((table, column), []).append(_Place(*place))
        return found

    def _get(self, key: tuple[str, str, int]) -> Array | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def _keep(self, key: tuple[str, str, int], array: Array) -> Array:
        array.flags.writeable = False
        with self._lock:
            if key not in self._kept and array.nbytes <= self._budget:
                self._kept[key] = array
                self._size += array.nbytes
            while self._size > self._budget:
                _, dropped = self._kept.popitem(last=False)
                self._size -= dropped.nbytes
        return array


def _places_of(part: Array, values: npt.NDArray[np.integer]) -> Int64s:
    """Return the positions of the elements of `part` that are among `values` (sorted)."""
    first, last = int(values[0]), int(values[-1])
    if last - first + 1 == len(values):
        return np.flatnonzero((part >= first) & (part <= last))
    return np.flatnonzero(np.isin(part, values))


def _narrowest(table: str, column: str, places: list[_Place]) -> str:
    if schema.is_float(table, column):
        return "<f8"
    low = min((place.low for place in places), default=0)
    high = max((place.high for place in places), default=0)
    fits = (d for d in SIGNED if np.iinfo(d).min <= low and high <= np.iinfo(d).max)
    return next(fits)

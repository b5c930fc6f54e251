# SPDX-License-Identifier: MIT
"""An open recording for Python programs: its tables, paths, matches, clocks and filters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from ..export import packet_path
from ..matching import Timebase
from ..records import PacketPath, Silent, SourceRow
from ..records.table_columns import TableMeaning, Vector
from ..records.types import Int64s
from ..session import Session
from ..session.query_thread import Answer, Bounds, query
from . import data_frames
from .arguments import (
    Numbers,
    One,
    Several,
    column_names,
    packet_numbers,
    row_number,
    whole_numbers,
)

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Match(NamedTuple):
    """The verdict of a packet and its reason; `series` and `legs` match the packet."""

    verdict: str  # "exact", "ambiguous", "wire-only" or "sampled-out"
    reason: str
    confidence: float | None  # 0 to 1
    series: tuple[int, ...]  # skb lifetimes, ascending
    legs: tuple[int, ...]


class Clock:
    """The clock of one source.  Session time is the wall clock of the first kernel log's host."""

    def __init__(self, source: int, timebase: Timebase) -> None:
        self._source, self._timebase = source, timebase

    @property
    def error_ns(self) -> int | None:
        """Return the possible error of session times, ns; None if it is unknown."""
        error = self._timebase.error(self._source)
        return None if error < 0 else error

    @overload
    def to_session(self, times: One) -> np.int64: ...

    @overload
    def to_session(self, times: Several) -> Int64s: ...

    def to_session(self, times: Numbers) -> np.int64 | Int64s:
        """Convert times of this clock (int64 ns) to session times; the result has the same shape.

        One number gives an int64.  Raises TypeError for times that are no whole numbers.
        """
        given = whole_numbers(times, "times")
        return _shaped(self._timebase.to_session(self._source, given.reshape(-1)), given)

    @overload
    def from_session(self, times: One) -> np.int64: ...

    @overload
    def from_session(self, times: Several) -> Int64s: ...

    def from_session(self, times: Numbers) -> np.int64 | Int64s:
        """Convert session times (int64 ns) to times of this clock; the result has the same shape.

        One number gives an int64.  Raises TypeError for times that are no whole numbers.
        """
        given = whole_numbers(times, "times")
        return _shaped(self._timebase.to_source(self._source, given.reshape(-1)), given)


def _shaped(made: Int64s, given: Int64s) -> np.int64 | Int64s:
    """Return `made` in the shape of `given`, or as a number if `given` is a single number."""
    return made.reshape(given.shape) if given.ndim else np.int64(made[0])


class Recording:
    """An open session. Use a recording as a context manager, or call close() at the end.

    Every table method takes the names of columns (all by default) and numbers of packets, such as
    those from filter(). With `packets`, a table has only the rows that belong to these packets.
    Methods raise KeyError for an unknown table, column, packet or source, TypeError for an argument
    of another type, BadInput if a file cannot be read, and ValueError once the recording is closed.
    """

    def __init__(self, session: Session) -> None:
        self._opened = session
        self._closed = False

    @property
    def _session(self) -> Session:
        """Return the open session.  Raises ValueError once the recording is closed."""
        if self._closed:
            raise ValueError(f"{self._opened.file}: the recording is closed")
        return self._opened

    def __enter__(self) -> Recording:
        """Return the recording itself. Raises ValueError if the recording is closed."""
        assert self._session
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file. After close(), only `file`, close() and clocks can be used."""
        self._closed = True
        self._opened.close()

    @property
    def file(self) -> Path:
        """Return the path of the session file, also after close()."""
        return self._opened.file

    @property
    def sources(self) -> tuple[SourceRow, ...]:
        """Return the captures and kernel logs of the session."""
        return self._session.sources()

    @property
    def tables(self) -> dict[str, TableMeaning]:
        """Return the documented tables by name, with what their columns mean (docs/schema.md)."""
        return {table.name: table for table in self._session.tables.described()}

    def info(self) -> dict[str, Any]:
        """Return the object that `skbviewer info --json` prints: counts, fits, losses, sources."""
        return self._session.info()

    def array(
        self, table: str, columns: Sequence[str] | None = None, packets: Numbers | None = None
    ) -> npt.NDArray[np.void]:
        """Return a table as a structured array.

        Integers are int64 or int32. An unknown integer is the lowest number of its type
        (skbviewer.UNKNOWN for int64). Other numbers are float64; an unknown one is NaN. Texts are
        Python objects; a missing text is None. The array has one dimension; its fields are the
        columns. Raises KeyError, BadInput, and ValueError if `columns` is empty.
        """
        return data_frames.structured_array(self._vectors(table, columns, packets))

    def arrow(
        self, table: str, columns: Sequence[str] | None = None, packets: Numbers | None = None
    ) -> pyarrow.Table:
        """Return a table as a pyarrow.Table; unknown values are null.

        Columns are int64, int32, double or string.  Raises KeyError, BadInput, and ImportError if
        pyarrow is missing.
        """
        return data_frames.arrow(self._vectors(table, columns, packets))

    def pandas(
        self, table: str, columns: Sequence[str] | None = None, packets: Numbers | None = None
    ) -> pandas.DataFrame:
        """Return a table as a pandas.DataFrame; unknown integers are pandas.NA.

        Columns are Int64, Int32, float64 or category.  Raises KeyError, BadInput, and ImportError
        if pandas is missing.
        """
        return data_frames.pandas(self._vectors(table, columns, packets))

    def polars(
        self, table: str, columns: Sequence[str] | None = None, packets: Numbers | None = None
    ) -> polars.DataFrame:
        """Return a table as a polars.DataFrame; unknown values are null.

        Columns are Int64, Int32, Float64 or String.  Raises KeyError, BadInput, and ImportError if
        polars is missing.
        """
        return data_frames.polars(self._vectors(table, columns, packets))

    def query(self, sql: str, rows: int = 100_000, seconds: float = 60.0) -> Answer:
        """Run one SELECT over the tables; the answer has `columns` (names) and `rows` (tuples).

        The answer has at most `rows` rows; if rows are missing, the answer's `cut` says why. Raises
        BadInput if the query is wrong, or takes more than `seconds` or too much memory.
        """
        return query(self._session.file, sql, Bounds(rows=rows, seconds=seconds), Silent())

    def filter(self, text: str) -> Int64s:
        """Return the numbers of the packets that match a display filter, ascending (int64).

        The result does not contain rows K<n>, which are lifetimes without a packet. Raises
        FilterError (a ValueError) if the filter is wrong, BadInput if it needs bytes of a capture
        that moved, and TypeError if `text` is no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"filter() needs a text, not {text!r}; '' matches all packets")
        found = self._session.packets.select(text)
        if found is None:
            return np.arange(1, self._session.packets.count() + 1)
        return np.sort(found[found > 0])

    def path(self, packet: int | str) -> PacketPath:
        """Return a packet's path through the kernels: its legs with their calls and waits.

        The text "K<n>" gives the path of row K<n>, a lifetime without a packet; then the result's
        `packet` is None. Times are ns; the times of a leg are on the clock of the kernel log that
        recorded it. Raises KeyError if the packet or row does not exist.
        """
        return packet_path(self._session, row_number(packet))

    def match(self, packet: int) -> Match:
        """Return a packet's verdict, and the skb lifetimes and legs that match it.

        Raises KeyError if the packet does not exist.
        """
        mine = self.array("matches", ("series", "leg"), [packet])
        series, legs = (tuple(np.unique(mine[name]).tolist()) for name in ("series", "leg"))
        row = self.path(packet).packet
        assert row is not None
        return Match(row.verdict, row.reason, row.confidence, series, legs)

    def clock(self, source: int) -> Clock:
        """Return the clock of a source, given its `id` in `sources`.

        Raises KeyError if the source does not exist.
        """
        if source not in {each.id for each in self.sources}:
            raise KeyError(f"no source {source}")
        return Clock(source, self._session.timebase())

    def _vectors(
        self, table: str, columns: Sequence[str] | None, packets: Numbers | None
    ) -> list[dict[str, Vector]]:
        """Return the table in blocks of rows."""
        session, names = self._session, column_names(columns)
        chosen = None
        if packets is not None:
            chosen = session.tables.chosen(packet_numbers(packets, session.packets.count()))
        return list(session.tables.blocks(table, names, chosen))

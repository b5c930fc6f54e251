# SPDX-License-Identifier: MIT
"""The tables, as columns, from which the fields of a display filter are computed.

A view is a set of rows with their columns.  The rows are all or some packets, rows K<n>, calls,
legs or drops of a session.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import SourceRow
from ...records.kbl_layout import KblEvent
from ...records.types import Bools, Int64s
from ...store import Columns, Database, queries
from ..words.kernel_log_names import Names, names_of

PACKET, SERIES, LEG, CALL, DROP = "packet", "series", "leg", "call", "drop"
ADDRESS = "address"  # a row applies to the whole series of its leg
ROW = "row"  # a packet or a row K<n>

DENSE = 16  # a range of rows is read as a whole to take one of so many

Array = npt.NDArray[Any]


class _Near(NamedTuple):
    """Rows close together: `places` are their indices in the `span` rows from `first` on."""

    first: int
    span: int
    places: Int64s | slice


class View:
    """Some rows, or all rows, of one table.

    If the table does not have a column, the column's value is unknown (-1) in all rows.
    """

    def __init__(self, data: Data, table: str, rows: Int64s | None = None) -> None:
        self.data = data
        self.table = table
        self.rows = rows  # 0-based; None = all
        self.size = data.columns.length(table) if rows is None else len(rows)
        self._made: dict[str, Any] = {}

    def has(self, name: str) -> bool:
        """Return whether the view's table has the column `name`."""
        return name in self.data.columns.names(self.table)

    def column(self, name: str) -> Array:
        """Return the values that column `name` has in the view's rows; they are read-only."""
        if not self.has(name):
            return np.broadcast_to(np.int8(-1), (self.size,))
        rows = self.rows
        if rows is None:
            return self.data.columns.array(self.table, name)
        taken: Array = self.cached(f"column {name}", lambda view: view._taken(name, rows))
        return taken

    def of_rows(self, name: str, rows: Array) -> Array:
        """Return the values that column `name` has at `rows`, which are rising indices of the view.

        The column is not kept in memory, because this method is for code that reads a table only
        once.
        """
        if self.rows is None and self.has(name):
            return self.data.columns.near(self.table, name, rows)
        return self.column(name)[rows]

    def _taken(self, name: str, rows: Int64s) -> Array:
        near: _Near | None = self.cached("near", lambda view: view._near(rows))
        if near is None:
            return self.data.columns.take(self.table, name, rows)
        whole = self.data.columns.part(self.table, name, near.first, near.span)
        if isinstance(near.places, slice):
            return whole[near.places]
        return np.asarray(whole.take(near.places, mode="clip"))  # in bounds: _near() counted them

    def _near(self, rows: Int64s) -> _Near | None:
        """Return where the rows are, if they are few and close together; otherwise None."""
        if not 0 < len(rows) * DENSE <= self.data.columns.length(self.table):
            return None
        first, last = int(rows.min()), int(rows.max())
        span = last - first + 1
        if first < 0 or len(rows) * DENSE < span:
            return None
        if len(rows) == span and bool(np.all(rows[1:] > rows[:-1])):
            return _Near(first, span, slice(None))
        return _Near(first, span, rows - first)

    def cached(self, name: str, make: Callable[[View], Any]) -> Any:
        """Return make(view), which is computed only once for each `name` and then kept."""
        if name not in self._made:
            self._made[name] = make(self)
        return self._made[name]

    def ids(self) -> Int64s:
        """Return the id of each row: n for packet n, -n for row K<n>."""
        return -self.number() if self.table == SERIES else self.number()

    def number(self) -> Int64s:
        """Return the number of each row: n for packet n as well as for row K<n>."""
        if self.table == SERIES:
            return self.column("kernel_only").astype(np.int64)
        return (np.arange(self.size) if self.rows is None else self.rows) + 1


def drops_of(columns: Columns) -> Int64s:
    """Return the rows (0-based) of a session's events that are drops."""
    return np.flatnonzero(columns.once("event", "event") == KblEvent.DROP)


class _Slot:
    """A value that is computed by the first thread that needs it, and then used by all threads."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.made = False
        self.value: Any = None


class Data:
    """The columns and names of one open session, and a cache of values computed from them."""

    def __init__(
        self,
        columns: Columns,
        connect: Callable[[], AbstractContextManager[Database]],
        sources: Callable[[], Sequence[SourceRow]],
        fitted: Callable[[int, Int64s], Int64s],
        flags: Callable[[str], Int64s] = lambda kind: np.zeros(0, np.int64),
        comments: Callable[[], Mapping[int, str]] = dict,
        lost_legs: Callable[[], Bools] | None = None,
    ) -> None:
        """Read from `columns`, the column chunks of a session.

        `fitted` converts times of a KBL (given by its source id) into ns since the epoch on the
        clock of the captures.  `flags` returns the rows (n, or -n for K<n>) that have a flag;
        `comments` returns comments by row.  `lost_legs` returns for each leg whether a drop in it
        lost its packet.
        """
        self.columns = columns
        self.connect = connect
        self.fitted = fitted
        self.flags = flags
        self.comments = comments
        self._sources = sources
        self._lost_legs = lost_legs
        self._kept: dict[str, _Slot] = {}
        self._lock = threading.Lock()

    def cached(self, name: str, make: Callable[[], Any]) -> Any:
        """Return make(), which the session computes only once for each `name` and then keeps.

        While a value is computed, only callers that ask for the same `name` wait.
        """
        with self._lock:
            slot = self._kept.setdefault(name, _Slot())
        with slot.lock:
            if not slot.made:
                slot.value, slot.made = make(), True
            return slot.value

    def has(self, name: str) -> bool:
        """Return whether the value `name` has been computed, so that no caller waits for it."""
        slot = self._kept.get(name)
        return slot is not None and slot.made

    @property
    def sources(self) -> tuple[SourceRow, ...]:
        """Return the input files of the session."""
        return tuple(self._sources())  # not cached: a file may have been found elsewhere

    def logs(self) -> list[int]:
        """Return the source ids of the session's kernel logs."""
        return self.cached(  # type: ignore[no-any-return]
            "logs", lambda: [source.id for source in self.sources if source.kind.is_log]
        )

    def names(self, source: int) -> Names:
        """Return the names recorded in the KBL `source`: functions, devices, symbols; cached."""

        def read() -> Names:
            with self.connect() as db:
                return names_of(db, source)

        return self.cached(f"names {source}", read)  # type: ignore[no-any-return]

    def functions(self, source: int) -> dict[int, str]:
        """Return the names of probed functions of the KBL `source`, by the number of the probe."""

        def read() -> dict[int, dict[int, str]]:
            found: dict[int, dict[int, str]] = {}
            with self.connect() as db:
                for row in queries.probe_names(db):
                    found.setdefault(row.source, {})[row.func] = row.name
            return found

        return self.cached("functions", read).get(source, {})  # type: ignore[no-any-return]

    def packets(self) -> View:
        """Return a view of all packets."""
        return View(self, PACKET)

    def kernel_only(self) -> View:
        """Return a view of the rows K1, K2, ... of the packet list, from table `series`."""
        return View(self, SERIES, self.kernel_only_rows())

    def kernel_only_rows(self) -> Int64s:
        """Return the rows (0-based) of table `series` that are K1, K2, ... of the packet list."""
        return self.cached("kernel_only", self._kernel_only)  # type: ignore[no-any-return]

    def _kernel_only(self) -> Int64s:
        number = self.columns.array(SERIES, "kernel_only")
        rows = np.flatnonzero(number > 0)
        return rows[np.argsort(number[rows], kind="stable")]

    def table(self, name: str) -> View:
        """Return a view of all rows of LEG, CALL, ADDRESS or DROP."""
        if name == DROP:
            return View(self, "event", self.drops())
        return View(self, name)

    def drops(self) -> Int64s:
        """Return the rows (0-based) of events that are drops."""
        return self.cached("drops", self._drops)  # type: ignore[no-any-return]

    def _drops(self) -> Int64s:
        return drops_of(self.columns)

    def legs_with(self, table: str, mask: Bools) -> Bools:
        """Return for each leg whether `mask` marks a row of `table` that belongs to the leg."""
        if table == LEG:
            return mask
        found = np.zeros(self.columns.length(LEG) + 2, np.bool_)
        legs = self.table(table).column("leg").compress(mask)  # faster than indexing by a mask
        found[legs] = True  # -1, no leg, is the last index
        if table == ADDRESS:
            series = self.columns.array(LEG, "series")
            return np.asarray(np.isin(series, series[found[1:-1]]))
        return found[1:-1]

    def lost_legs(self) -> Bools:
        """Return for each leg whether a drop in it lost its packet (breakdown/lost_packets.py)."""

        def find() -> Bools:
            if self._lost_legs is None or not (self.columns.array(LEG, "drop_reason") >= 0).any():
                return np.zeros(self.columns.length(LEG), np.bool_)
            return self._lost_legs()

        return self.cached("lost legs", find)  # type: ignore[no-any-return]

    def rows_with(self, view: View, legs: Bools) -> Bools:
        """Return for each packet or row K<n> of `view` whether `legs` marks one of its legs."""
        if view.table == PACKET:
            hit = np.r_[False, legs].take(self.columns.array("match", "leg"))
            whole = np.zeros(self.columns.length(PACKET) + 1, np.bool_)
            whole[self.columns.array("match", "packet").compress(hit)] = True
            found = whole[1:]
        else:
            found = np.zeros(self.columns.length(SERIES), np.bool_)
            found[self.columns.array(LEG, "series")[legs] - 1] = True
        return found if view.rows is None else found[view.rows]

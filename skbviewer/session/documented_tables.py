# SPDX-License-Identifier: MIT
"""The documented tables of an open session as arrays: all rows, or only those of chosen packets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..records import Progress, Silent
from ..records.table_columns import ALL, Share, TableMeaning, Vector
from ..records.types import Bools, Int64s
from ..store import schema
from ..store.views.declared_views import VIEWS
from ..store.views.small_tables import small_table, view_vectors
from ..store.views.view_blocks import blocks
from ..store.views.view_rows import Array, Tables
from .open_session_file import OpenedFile

Chosen = Mapping[str, Bools]  # "packet", "leg", "series": true at id - 1


class SessionTables:
    """The tables of docs/schema.md; several threads may use this object at once."""

    def __init__(self, opened: OpenedFile) -> None:
        self._opened = opened

    def described(self) -> tuple[TableMeaning, ...]:
        """Return names, meanings and columns of all documented tables, as in docs/schema.md."""
        return tuple(view.described for view in VIEWS.values())

    def columns(self, name: str) -> tuple[str, ...]:
        """Return the names of the columns of table `name`.

        Raises KeyError, with a line for the user, if there is no such table.
        """
        if name not in VIEWS:
            raise KeyError(f"no table {name}: expected one of {', '.join(VIEWS)}")
        return tuple(column.meaning.name for column in VIEWS[name].columns)

    def blocks(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        chosen: Chosen | None = None,
        progress: Progress | None = None,
        share: Share = ALL,
    ) -> Iterator[dict[str, Vector]]:
        """Yield the columns of a table in blocks of rows; at least one block, which may be empty.

        `name` is the name of the table.  `columns` are the names of its columns; None means all.
        With `chosen`, only rows about the chosen packets, legs and lifetimes are read; tables about
        sources are read as a whole.  `share` says which part of the blocks to yield, perhaps none;
        small tables belong to share 0.  Raises KeyError if there is no such table or column; raises
        BadInput and Cancelled.
        """
        names = self._named(name, columns)
        view, progress = VIEWS[name], progress or Silent()
        if view.base not in schema.CHUNKED:
            if share.number == 0:
                with self._opened.database() as db:
                    yield view_vectors(db, view, names)
            return
        total = self._opened.columns.length(view.base)
        tables = Tables(self._opened.columns, self._small)
        progress.report(f"writing {name}", 0, total)
        for done, made in blocks(tables, view, names, chosen, share):
            yield {column: made[column] for column in names}
            progress.report(f"writing {name}", done, total)

    def _named(self, name: str, columns: Sequence[str] | None) -> tuple[str, ...]:
        there = self.columns(name)
        for column in columns or ():
            if column not in there:
                raise KeyError(f"table {name} has no column {column}")
        return there if columns is None else tuple(columns)

    def _small(self, table: str) -> dict[str, Array]:
        with self._opened.database() as db:
            return small_table(db, table)

    def chosen(self, packets: Int64s, kernel_only: Sequence[int] = ()) -> Chosen:
        """Return which packets, legs and lifetimes belong to `packets` and to rows K<n>.

        `packets` are packet numbers (n >= 1); `kernel_only` are the numbers n of rows K<n>.  The
        legs of a packet are all legs that match it, even ambiguously; the legs of a row K<n> are
        all legs of its lifetime.
        """
        columns = self._opened.columns
        packet = np.zeros(columns.length("packet"), np.bool_)
        packet[packets - 1] = True
        leg, series = (np.zeros(columns.length(name), np.bool_) for name in ("leg", "series"))
        of_packet, of_leg = (columns.once("match", name) for name in ("packet", "leg"))
        leg[of_leg[packet[of_packet - 1]] - 1] = True
        series_of = columns.array("leg", "series")
        series[series_of[leg] - 1] = True
        rows = np.isin(columns.array("series", "kernel_only"), np.array(kernel_only, np.int64))
        if rows.any():
            leg |= rows[series_of - 1]
        return {"packet": packet, "leg": leg, "series": series | rows}

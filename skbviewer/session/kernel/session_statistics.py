# SPDX-License-Identifier: MIT
"""The statistics of an open session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...analysis.stats import Chosen, Scope, Stack, Table, call_stacks, statistic_of
from ...records import Progress
from ..annotation_places import RowIds
from ..opened_file import OpenedFile
from ..packets.session_fields import Fields
from .kept_results import CELL_BYTES, KeptResults
from .statistics_scope import begin_of, details_of, scope_of

if TYPE_CHECKING:
    from ...analysis.diagnosis import Diagnosis


KEPT_BYTES = 64 << 20  # of results that are kept


class Statistics:
    """Tables over chosen packets and times."""

    def __init__(self, opened: OpenedFile, fields: Fields) -> None:
        self._opened, self._fields = opened, fields
        self._kept = KeptResults(KEPT_BYTES)

    def scope(self, chosen: Chosen | None = None, progress: Progress | None = None) -> Scope:
        """Return the scope of analysis.stats for the `chosen` packets and times; by default all."""
        opened = self._opened
        with opened.database() as db:
            given = (db, opened.columns, opened.sources(), opened.timebase(), chosen or Chosen())
            details = details_of(opened.database)
            return scope_of(*given, progress, self._fields.data(), details)

    def table(
        self, name: str, rows: RowIds | None = None, progress: Progress | None = None
    ) -> Table:
        """Return the table `name` of STATISTICS for `rows` of the packet list (None: all).

        Raises Cancelled.
        """
        chosen = Chosen(rows)

        def made() -> Table:
            return statistic_of(name, self.scope(chosen, progress))

        return self._kept.get(name, chosen, None, made, _table_size)

    def diagnosis(
        self,
        chosen: Chosen | None = None,
        ids: RowIds | None = None,
        progress: Progress | None = None,
    ) -> Diagnosis:
        """Diagnose the `chosen` packets, or the rows `ids` (-n for row K<n>).  Raises Cancelled."""
        from ...analysis.diagnosis import diagnose

        def made() -> Diagnosis:
            return diagnose(self.scope(chosen, progress), ids)

        return self._kept.get("diagnosis", chosen or Chosen(), ids, made, _diagnosis_size)

    def stacks(self, rows: RowIds | None = None, progress: Progress | None = None) -> list[Stack]:
        """Return the call stacks of `rows` of the packet list (None: all).  Raises Cancelled."""
        return call_stacks(self.scope(Chosen(rows), progress))

    def begin_ns(self) -> int:
        """Return the session time (ns) of packet 1, else of the first leg.

        The Time column counts from this time.
        """
        opened = self._opened
        return begin_of(opened.columns, opened.sources(), opened.timebase())


def _table_size(table: Table) -> int:
    return CELL_BYTES * len(table.rows) * len(table.columns)


def _diagnosis_size(made: Diagnosis) -> int:
    return sum(one.rows.nbytes + one.packets.nbytes for one in made.findings)

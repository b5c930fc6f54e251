# SPDX-License-Identifier: MIT
"""The statistics of an open session."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...analysis.scope.without_inner_calls import has_inner
from ...analysis.stats import (
    STATISTICS,
    Chosen,
    Scope,
    Stack,
    Table,
    call_stacks,
    statistic_of,
)
from ...records import Progress
from ..annotation_places import RowIds
from ..open_session_file import OpenedFile
from ..packets.session_fields import Fields
from . import result_program_version
from .cached_results import CELL_BYTES, KeptResults
from .result_serialisation import Damaged, decode
from .statistics_scope import begin_of, details_of, scope_of

if TYPE_CHECKING:
    from ...analysis.diagnosis import Diagnosis

Result = TypeVar("Result")

KEPT_BYTES = 64 << 20  # of results that are kept
DIAGNOSIS, MEASUREMENTS = "diagnosis", "comparison"  # names of stored results


class Statistics:
    """The tables about chosen packets and times."""

    def __init__(self, opened: OpenedFile, fields: Fields) -> None:
        self._opened, self._fields = opened, fields
        self._kept = KeptResults(KEPT_BYTES)
        self._prepared = False

    def shown(self, chosen: Chosen) -> Chosen:
        """Return `chosen`; if the user leaves out functions without an skb, so does the result.

        If the session has no functions without an skb, nothing is left out, and stored results are
        right.
        """
        shown = chosen.inner and self._opened.shows_inner
        return chosen._replace(inner=shown or not has_inner(self._opened.columns))

    def scope(self, chosen: Chosen | None = None, progress: Progress | None = None) -> Scope:
        """Return the scope of the `chosen` packets and times, for analysis.stats (None: all)."""
        opened = self._opened
        with opened.database() as db:
            choice = self.shown(chosen or Chosen())
            columns = opened.shown_columns(choice.inner)
            given = (db, columns, opened.sources(), opened.timebase())
            details = details_of(opened.database)
            return scope_of(*given, choice, progress, self._fields.data(), details)

    def table(
        self, name: str, rows: RowIds | None = None, progress: Progress | None = None
    ) -> Table:
        """Return the table `name` of STATISTICS for the rows `rows` (None: all rows).

        Raises Cancelled.
        """
        return self.table_of(name, Chosen(rows), progress)

    def table_of(self, name: str, chosen: Chosen, progress: Progress | None = None) -> Table:
        """Return the table `name` of STATISTICS for the `chosen` packets and times.

        Raises Cancelled.
        """
        chosen = self.shown(chosen)

        def made() -> Table:
            return statistic_of(name, self.scope(chosen, progress))

        def found() -> Table:
            return self.stored_or(table_name(name), chosen, made)

        return self._kept.get(name, chosen, None, found, _table_size)

    def diagnosis(
        self,
        chosen: Chosen | None = None,
        ids: RowIds | None = None,
        progress: Progress | None = None,
    ) -> Diagnosis:
        """Return a diagnosis of the `chosen` packets, or of the rows `ids` (-n for row K<n>).

        Raises Cancelled.
        """
        from ...analysis.diagnosis import diagnose

        limit = self.shown(chosen or Chosen())

        def made() -> Diagnosis:
            return diagnose(self.scope(limit, progress), ids)

        def found() -> Diagnosis:
            return made() if ids is not None else self.stored_or(DIAGNOSIS, limit, made)

        return self._kept.get(DIAGNOSIS, limit, ids, found, _diagnosis_size)

    def stored_or(self, name: str, chosen: Chosen, make: Callable[[], Result]) -> Result:
        """Return the result `name` that the import stored if it is for `chosen`, or else make()."""
        found: Result | None = self.stored(name) if is_everything(chosen) else None
        return make() if found is None else found

    def stored(self, name: str) -> Any:
        """Return the result `name` that the import stored; None if there is none.

        Also returns None if another program made the result, or if the result is damaged.
        """
        found = self._opened.result(name)
        if found is None or found[0] != result_program_version.program():
            return None
        with suppress(Damaged):
            return decode(found[1], name)
        return None

    def stacks(self, rows: RowIds | None = None, progress: Progress | None = None) -> list[Stack]:
        """Return the call stacks of the rows `rows` (None: all rows).  Raises Cancelled."""
        return call_stacks(self.scope(Chosen(rows), progress))

    def prepare(self, progress: Progress | None = None) -> None:
        """Compute the diagnosis and all tables of one packet, to load code and columns into memory.

        Without this preparation, the first results about a part of a large recording take longer
        (docs/performance.md).  A second call, or a call in a session without packets, does nothing.
        Raises Cancelled.
        """
        packets = self._opened.columns.length("packet")
        if self._prepared or not packets:
            return
        from ...analysis.diagnosis import diagnose

        packet = np.array([packets // 2 + 1])
        scope = self.scope(Chosen(packet), progress)
        diagnose(scope)
        for name in STATISTICS:
            statistic_of(name, scope)
        self._prepared = True

    def begin_ns(self) -> int:
        """Return the session time (ns) of packet 1, or else of the first leg.

        The Time column counts from this time.
        """
        opened = self._opened
        return begin_of(opened.columns, opened.sources(), opened.timebase())


def table_name(statistic: str) -> str:
    """Return the name of the stored result of a table of STATISTICS."""
    return f"table {statistic}"


def is_everything(chosen: Chosen) -> bool:
    """Return whether `chosen` selects everything, so that the import may have stored the result."""
    return chosen.packets is None and chosen._replace(packets=None) == Chosen()


def _table_size(table: Table) -> int:
    return CELL_BYTES * len(table.rows) * len(table.columns)


def _diagnosis_size(made: Diagnosis) -> int:
    return sum(one.rows.nbytes + one.packets.nbytes for one in made.findings)

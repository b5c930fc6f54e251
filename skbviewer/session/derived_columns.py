# SPDX-License-Identifier: MIT
"""Facts that an import derives from the tables of a session and stores, to find them only once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..analysis.breakdown.stored_path_classes import stored_columns
from ..analysis.stats import Chosen
from ..records import Progress
from ..store.whole_columns import Array
from .kernel.statistics_scope import scope_of
from .open_session_file import OpenedFile


def derived_columns(session: Path, progress: Progress) -> Mapping[str, Mapping[str, Array]]:
    """Return the columns of schema.DERIVED of the session file `session`.  Raises Cancelled."""
    opened = OpenedFile(session)
    try:
        with opened.database() as db:
            given = db, opened.columns, opened.sources(), opened.timebase(), Chosen()
            scope = scope_of(*given, progress)
        return stored_columns(scope)
    finally:
        opened.close()

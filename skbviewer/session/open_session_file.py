# SPDX-License-Identifier: MIT
"""An open session file: its database, its columns, and values that several parts need."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..analysis import Names, names_of
from ..analysis.scope.without_inner_calls import columns_without_inner
from ..matching import Timebase
from ..records import SourceKind, SourceRow
from ..records.types import Int64s
from ..store import Columns, Database, open_session, queries
from ..store.stored_result_queries import stored_result
from .kernel import clocks


class OpenedFile:
    """A session file that is open for reading.  Several threads may use the object at once."""

    def __init__(self, path: Path) -> None:
        """Open the session file `path`.

        Raises BadInput if the file is not a session or has another version.
        """
        self.path = path
        self._engine = open_session(path)
        self._names: dict[int, Names] = {}
        self._lock = threading.Lock()
        self.columns = Columns(self._engine)  # of the bulk tables
        self.shows_inner = True  # functions without an skb are shown and counted
        self._without_inner: Columns | None = None

    def close(self) -> None:
        """Close the file.  If the session is used after close(), the file is opened again."""
        self._engine.dispose()

    def shown_columns(self, inner: bool = True) -> Columns:
        """Return the columns of the bulk tables, with those calls that are shown.

        Calls of functions without an skb are left out if the user wants it, or if not `inner`.
        """
        if inner and self.shows_inner:
            return self.columns
        with self._lock:
            if self._without_inner is None:
                self._without_inner = columns_without_inner(self.columns)
            return self._without_inner

    @contextmanager
    def database(self) -> Iterator[Database]:
        """Yield a connection for one thread."""
        with self._engine.connect() as connection:
            yield connection

    def sources(self) -> tuple[SourceRow, ...]:
        """Return the input files, in import order."""
        with self.database() as db:
            rows = queries.sources(db)
        parsed = [(tuple(json.loads(r.warnings)), json.loads(r.detail)) for r in rows]
        return tuple(
            SourceRow(r.id, r.path, SourceKind(r.kind), r.size, r.sha256, r.rows, *more)
            for r, more in zip(rows, parsed, strict=True)
        )

    def has_kbl(self) -> bool:
        """Return whether the session has a kernel log."""
        return any(source.kind.is_log for source in self.sources())

    def timebase(self) -> Timebase:
        """Return the object that converts the clock of each source to session time."""
        with self.database() as db:
            return clocks.timebase_of(db)

    def names_of(self, source: int) -> Names:
        """Return the names in a KBL, which are read only once."""
        with self._lock:
            if source not in self._names:
                with self.database() as db:
                    self._names[source] = names_of(db, source)
            return self._names[source]

    def result(self, name: str) -> tuple[str, bytes] | None:
        """Return the program that made a stored result, and its bytes (stored_results.py).

        Returns None if the result is not stored.
        """
        with self.database() as db:
            return stored_result(db, name)

    def fitted(self, source: int, ts: Int64s) -> Int64s:
        """Convert times `ts` of the log `source` to the clock of the first capture, ns since 1970.

        If the session has no capture, the times are converted to session time.
        """
        clock = self.timebase()
        captures = [s.id for s in self.sources() if not s.kind.is_log]
        times = clock.to_session(source, ts)
        return clock.to_source(captures[0], times) if captures else times

# SPDX-License-Identifier: MIT
"""The fields of an open session: the values of rows for display filters, columns and sorting."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from ...analysis.fields.field_source_tables import Data
from ..notes import Notes
from ..open_session_file import OpenedFile
from . import filtered_rows


class Fields:
    """The values of display filters' fields, by name of the field."""

    def __init__(self, opened: OpenedFile, notes: Notes) -> None:
        self._opened, self._notes = opened, notes
        self._data: Data | None = None
        self._lock = threading.Lock()

    def data(self) -> Data:
        """Return the columns from which fields are computed, with values computed before."""
        with self._lock:
            if self._data is None:
                self._data = filtered_rows.data_of(self._opened, self._notes)
            return self._data

    def values(self, name: str, ids: Sequence[int]) -> list[str]:
        """Return the values of the field `name` in the rows `ids` (n, or -n for K<n>), as texts.

        Raises KeyError for an unknown field.
        """
        return filtered_rows.values_of(self.data(), name, ids)

    def texts(self, name: str) -> list[str]:
        """Return the texts that the field `name` can have here, such as names of functions."""
        return filtered_rows.words_of(self.data(), name)

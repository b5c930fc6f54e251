# SPDX-License-Identifier: MIT
"""The fields of an open session: the values of rows for display filters, columns and sorting."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from ...analysis.fields.field_source_tables import Data
from ...store import Columns
from ..notes import Notes
from ..open_session_file import OpenedFile
from . import filtered_rows


class Fields:
    """The values of display filters' fields, by name of the field."""

    def __init__(self, opened: OpenedFile, notes: Notes) -> None:
        self._opened, self._notes = opened, notes
        self._data: Data | None = None
        self._without_inner: Data | None = None
        self._lock = threading.Lock()

    def data(self) -> Data:
        """Return the columns from which fields are computed, with values computed before."""
        with self._lock:
            if self._data is None:
                self._data = self._data_of(self._opened.columns)
            return self._data

    def shown_data(self) -> Data:
        """Return data() without the calls of functions without an skb, if these are left out."""
        columns = self._opened.shown_columns()
        if columns is self._opened.columns:
            return self.data()
        with self._lock:
            if self._without_inner is None:
                self._without_inner = self._data_of(columns)
            return self._without_inner

    def _data_of(self, columns: Columns) -> Data:
        return filtered_rows.data_of(self._opened, self._notes, columns)

    def values(self, name: str, ids: Sequence[int]) -> list[str]:
        """Return the values of the field `name` in the rows `ids` (n, or -n for K<n>), as texts.

        Raises KeyError for an unknown field.
        """
        return filtered_rows.values_of(self.data(), name, ids)

    def texts(self, name: str) -> list[str]:
        """Return the texts that the field `name` can have here, such as names of functions."""
        return filtered_rows.words_of(self.data(), name)

# SPDX-License-Identifier: MIT
"""The columns of the packet list, with their order and widths, as they are kept in the settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .packet_columns import BY_KEY, COLUMNS, Column, field_column


class ColumnState(NamedTuple):
    """One column.  A width of 0 means the column's default."""

    key: str
    title: str
    width: int = 0
    hidden: bool = False

    def column(self) -> Column | None:
        """Return the column that this state describes; None if this program does not know it."""
        if self.key in BY_KEY:
            return BY_KEY[self.key]._replace(title=self.title)
        return field_column(self.key.removeprefix("field:"), self.title)


UNUSUAL = ("waiting",)  # hidden by default
DEFAULT = tuple(
    ColumnState(column.key, column.title, hidden=column.key in UNUSUAL) for column in COLUMNS
)


def write(states: Iterable[ColumnState]) -> str:
    """Return a text that describes `states`, for the settings."""
    return json.dumps([list(state) for state in states])


def read(text: str) -> Sequence[ColumnState]:
    """Return the columns that `text` describes; DEFAULT if the text is unusable.

    write() makes such texts.  Unknown columns are left out.  Default columns that the text lacks
    are added, but hidden.
    """
    try:
        states = [ColumnState(str(k), str(t), int(w), bool(h)) for k, t, w, h in json.loads(text)]
    except (ValueError, TypeError):  # the settings file was edited by hand
        return DEFAULT
    known = [state for state in states if state.column() is not None]
    missing = [state for state in DEFAULT if state.key not in {k.key for k in known}]
    return [*known, *(state._replace(hidden=True) for state in missing)] if known else DEFAULT

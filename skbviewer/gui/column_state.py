# SPDX-License-Identifier: MIT
"""Which columns the packet list has, in which order and how wide: what is kept in the settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .packet_columns import BY_KEY, COLUMNS, Column, field_column


class ColumnState(NamedTuple):
    """One column; a width of 0 is the column's own."""

    key: str
    title: str
    width: int = 0
    hidden: bool = False

    def column(self) -> Column | None:
        """The column it tells of; None if this program has none such."""
        if self.key in BY_KEY:
            return BY_KEY[self.key]._replace(title=self.title)
        return field_column(self.key.removeprefix("field:"), self.title)


UNUSUAL = ("waiting",)  # hidden until asked for
DEFAULT = tuple(
    ColumnState(column.key, column.title, hidden=column.key in UNUSUAL) for column in COLUMNS
)


def write(states: Iterable[ColumnState]) -> str:
    return json.dumps([list(state) for state in states])


def read(text: str) -> Sequence[ColumnState]:
    """What `write` wrote, with columns this program does not know left out; DEFAULT if unusable."""
    try:
        states = [ColumnState(str(k), str(t), int(w), bool(h)) for k, t, w, h in json.loads(text)]
    except (ValueError, TypeError):  # a settings file somebody edited
        return DEFAULT
    known = [state for state in states if state.column() is not None]
    missing = [state for state in DEFAULT if state.key not in {k.key for k in known}]
    return [*known, *(state._replace(hidden=True) for state in missing)] if known else DEFAULT

# SPDX-License-Identifier: MIT
"""Sort the rows of a table model: unknown values come last, and the same rows stay selected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(value: Any) -> list[str | int] | None:
    """Return a sort key for `value`: "K9" comes before "K10", and numbers before other texts.

    Returns None if `value` is None.
    """
    if value is None:
        return None
    return [int(part) if part.isdecimal() else part for part in _DIGITS.split(str(value))]


def sorted_positions(values: Sequence[Any], descending: bool) -> list[int]:
    """Return the positions of `values` in ascending or descending order; Nones are last."""
    known = [at for at, value in enumerate(values) if value is not None]
    known.sort(key=lambda at: values[at], reverse=descending)
    return known + [at for at, value in enumerate(values) if value is None]


def move_indexes(model: QAbstractItemModel, order: Sequence[int]) -> None:
    """Move the indexes that Qt keeps (such as those of selected rows) after the rows were sorted.

    `order` has, for each new position, the row's old position.  Call this function between the
    signals layoutAboutToBeChanged and layoutChanged.
    """
    place = {old: new for new, old in enumerate(order)}
    before = model.persistentIndexList()
    after = [model.index(place[index.row()], index.column()) for index in before]
    model.changePersistentIndexList(before, after)

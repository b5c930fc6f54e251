# SPDX-License-Identifier: MIT
"""The types of documented tables: what their columns mean, and values of columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .types import Bools, Int32s

INT64, INT32, DOUBLE, TEXT = "int64", "int32", "double", "text"
DTYPES: dict[str, np.dtype[Any]] = {
    INT64: np.dtype(np.int64),
    INT32: np.dtype(np.int32),
    DOUBLE: np.dtype(np.float64),
}


class Share(NamedTuple):
    """A share of a table's rows: share `number` (from 0) of `of` consecutive shares."""

    number: int
    of: int


ALL = Share(0, 1)


class TableColumn(NamedTuple):
    """A column of a documented table."""

    name: str
    type: str  # INT64, INT32, DOUBLE or TEXT
    unit: str  # "ns", "bytes", "ppm", or "" if its values have none
    null: str  # what a missing value means; "" = no value is missing
    meaning: str
    since: int  # the version of sessions (PRAGMA user_version) that has it first


class TableMeaning(NamedTuple):
    """A documented table; a row of `packets` is one packet."""

    name: str
    meaning: str
    columns: tuple[TableColumn, ...]


class Vector(NamedTuple):
    """The values of one column in a block of rows.

    Numbers are in `values`, in the column's type; `missing` marks unknown numbers (None: all are
    known). For texts, `values` has int32 codes, and the text is words[code]; code -1 is a missing
    text.
    """

    values: npt.NDArray[Any]
    missing: Bools | None = None
    words: list[str] | None = None

    def objects(self) -> list[Any]:
        """Return the values as Python objects; None for missing ones."""
        if self.words is not None:
            return list(text_objects(self.values, self.words).tolist())
        if self.missing is None:
            return list(self.values.tolist())
        made = self.values.astype(object)
        made[self.missing] = None
        return list(made.tolist())


def text_objects(codes: Int32s, words: list[str]) -> npt.NDArray[np.object_]:
    """Return words[code] for each of `codes`, as an array of objects.

    Each word is a single Python object, even if many rows have it.
    """
    made = np.empty(len(words) + 1, object)
    made[: len(words)] = words
    made[-1] = None
    return made[codes]

# SPDX-License-Identifier: MIT
"""Read tables with few rows as a whole, and the views of such tables, by SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, text

from ...records.table_columns import DTYPES, TEXT, TableColumn, Vector
from .. import schema
from ..table_declarations import INTEGER
from .column_expressions import View
from .view_rows import Array
from .view_sql import select, sql_name


def small_table(db: Connection, name: str) -> dict[str, Array]:
    """Return all columns of a table by name, as int64 arrays or as objects (texts)."""
    rows = db.execute(text(f"SELECT * FROM {sql_name(name)} ORDER BY id")).all()  # noqa: S608
    made: dict[str, Array] = {}
    for at, column in enumerate(schema.TABLES[name].columns, 1):
        dtype = np.dtype(np.int64 if column.type == INTEGER else object)
        values = np.empty(len(rows), dtype)
        values[:] = [row[at] for row in rows]
        made[column.name] = values
    return made


def view_vectors(db: Connection, view: View, names: Sequence[str]) -> dict[str, Vector]:
    """Return the columns `names` of a view whose table has few rows."""
    columns = [c.meaning for c in view.columns]
    rows = db.execute(text(select(view))).all()
    return {
        column.name: _vector(column, [row[at] for row in rows])
        for at, column in enumerate(columns)
        if column.name in names
    }


def _vector(column: TableColumn, values: list[Any]) -> Vector:
    missing = np.array([value is None for value in values], np.bool_)
    if column.type == TEXT:
        words = sorted({value for value in values if value is not None})
        place = {word: code for code, word in enumerate(words)} | {None: -1}
        return Vector(np.array([place[value] for value in values], np.int32), None, words)
    made = np.array([0 if value is None else value for value in values], DTYPES[column.type])
    return Vector(made, missing if missing.any() else None)

# SPDX-License-Identifier: MIT
"""Rows for a new session: a table and its values, which Builder.add() writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .table_declarations import Table

Columns = dict[str, npt.NDArray[np.generic]]


class BulkRows(NamedTuple):
    """New rows of a bulk table: `total` rows of numbers.

    `make(slice)` returns all columns except `id` for the rows of a slice.
    """

    table: Table
    total: int
    make: Callable[[slice], Columns]


class FewRows(NamedTuple):
    """New rows of a table that is not a bulk table.

    Each row has all columns except `id`, in the table's order.
    """

    table: Table
    rows: Sequence[Sequence[object]]


NewRows = BulkRows | FewRows


def of_columns(table: Table, columns: Columns) -> BulkRows:
    """Return the rows of `table` whose columns have these values; all have the same length."""
    total = len(next(iter(columns.values())))
    return BulkRows(table, total, lambda rows: {n: c[rows] for n, c in columns.items()})

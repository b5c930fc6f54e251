# SPDX-License-Identifier: MIT
"""Rows to be added to a new session: tables as values, which Builder.add() writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .table_declarations import Table

Columns = dict[str, npt.NDArray[np.generic]]


class BulkRows(NamedTuple):
    """New rows of numbers, `total` of them.  `make` returns all columns except `id` for a slice."""

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
    """Return the rows of `table` that equally long columns make up."""
    total = len(next(iter(columns.values())))
    return BulkRows(table, total, lambda rows: {n: c[rows] for n, c in columns.items()})

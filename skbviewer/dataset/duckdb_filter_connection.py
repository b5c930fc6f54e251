# SPDX-License-Identifier: MIT
"""A connection that has the functions and tables that filters and statistics need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from ..analysis.words.function_layers import layer_of
from .duckdb_connection import connection
from .filter_fields import MACROS

# Of probed functions, and of functions that dropped packets.
NAMES = """SELECT function FROM functions WHERE function IS NOT NULL
UNION SELECT split_part(place, '+', 1) FROM drops WHERE place IS NOT NULL"""


@contextmanager
def filter_connection(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection that has the SQL functions of filters, and table function_layers.

    Raises BadInput if `folder` is not a dataset.
    """
    with connection(folder, quick=True) as db:
        for macro in MACROS:
            db.execute(macro)
        db.execute("CREATE TABLE function_layers (function VARCHAR, layer VARCHAR)")
        names = db.execute(NAMES).fetchall()
        rows = [(name, layer_of(name)) for (name,) in names]
        if rows:
            db.executemany("INSERT INTO function_layers VALUES (?, ?)", rows)
        yield db

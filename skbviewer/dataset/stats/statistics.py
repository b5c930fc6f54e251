# SPDX-License-Identifier: MIT
"""`dataset stats`: a table of statistics over the chosen packets of all sessions."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

from ...records import Progress
from ...session.querying import Answer, Cell
from ..filter_connection import filter_connection
from ..filter_sql import condition
from ..querying import BOUNDS, run
from .all_statistics import TABLES
from .statistics_sql import ALL_BUT, OF_PACKETS, ONLY, OTHERS


def statistics(folder: Path, table: str, text: str, progress: Progress) -> Answer:
    """Return a table of TABLES for the packets that match the display filter `text`.

    Raises KeyError if there is no such table, BadInput, FilterError and Cancelled.
    """
    if table not in TABLES:
        raise KeyError(f"dataset stats: {table} is not one of {', '.join(TABLES)}")
    where = condition(text)
    legs, join = (OF_PACKETS, ONLY) if text.strip() else (OTHERS, ALL_BUT)
    sql = TABLES[table].format(legs=legs.format(where=where), join=join, where=where)
    with filter_connection(folder) as db:
        found = run(db, folder, sql, BOUNDS, progress)
    return found._replace(rows=[_short(found.columns, row) for row in found.rows])


def _short(columns: tuple[str, ...], row: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Return the row with IPv6 addresses in their short form."""
    return tuple(
        str(ip_address(cell)) if name.startswith("address") and isinstance(cell, str) else cell
        for name, cell in zip(columns, row, strict=True)
    )

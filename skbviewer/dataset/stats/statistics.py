# SPDX-License-Identifier: MIT
"""`dataset stats`: a table of statistics over the chosen packets of all sessions."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

from ...records import Progress, counted
from ...session.query_thread import Answer, Cell
from ..duckdb_connection import connection
from ..duckdb_filter_connection import filter_connection
from ..filter_sql import condition
from ..query_thread import BOUNDS, run
from .all_statistics import TABLES
from .statistics_sql import ALL_BUT, NETWORK, OF_PACKETS, ONLY, OTHERS

LEFT_OUT = f"SELECT count(kernel_only) FROM lifetimes s WHERE {NETWORK}"
OF_CAPTURES = ("conversations", "endpoints")
# Tables that leave out legs that may lack records.
OF_WHOLE_LEGS = ("latency", "layers", "processes", "programs")
_LACKING = """
FROM legs l SEMI JOIN sources s ON s.session = l.session AND s.id = l.source AND s.kind <> 'retis'
WHERE l.functions IS NULL"""
ANY_LACKING = f"SELECT count(*) {_LACKING}"
CHOSEN_LACKING = f"""
WITH {{legs}}, lacking AS (SELECT l.session, l.id AS leg {_LACKING})
SELECT count(*) FROM lacking c {{join}} JOIN picked k ON k.session = c.session AND k.leg = c.leg"""


def statistics(folder: Path, table: str, text: str, progress: Progress) -> Answer:
    """Return a table of TABLES for the packets that match the display filter `text`.

    Raises BadInput, FilterError and Cancelled, and KeyError if the table does not exist.
    """
    if table not in TABLES:
        raise KeyError(f"dataset stats: {table} is not one of {', '.join(TABLES)}")
    where = condition(text)
    legs, join = (OF_PACKETS, ONLY) if text.strip() else (OTHERS, ALL_BUT)
    sql = TABLES[table].format(legs=legs.format(where=where), join=join, where=where)
    with filter_connection(folder) as db:
        found = run(db, folder, sql, BOUNDS, progress)
    return found._replace(rows=[_short(found.columns, row) for row in found.rows])


def lost_records(folder: Path, table: str, text: str, progress: Progress) -> list[str]:
    """Return a sentence about lost records if they make the numbers of `table` incomplete.

    `text` is the display filter.  Raises BadInput and Cancelled.
    """
    if table not in (*OF_WHOLE_LEGS, "drops"):
        return []
    with filter_connection(folder) as db:
        if not _count(run(db, folder, ANY_LACKING, BOUNDS, progress)):
            return []
        if table == "drops":
            return [
                "records may have been lost, so there may have been more drops than are counted"
            ]
        legs, join = (OF_PACKETS, ONLY) if text.strip() else (OTHERS, ALL_BUT)
        sql = CHOSEN_LACKING.format(legs=legs.format(where=condition(text)), join=join)
        lacking = _count(run(db, folder, sql, BOUNDS, progress))
    said = f"not counted, because records may have been lost: {counted(lacking, 'leg')}"
    return [said] if lacking else []


def _count(found: Answer) -> int:
    return int(str(found.rows[0][0]))


def lifetimes_left_out(folder: Path, table: str, text: str) -> int:
    """Return how many network packets a filter leaves out because no capture contains them.

    Filters choose captured packets only, because the tables lack the lengths and some headers of
    other packets. Without a filter, all skb lifetimes count, and the result is 0. The result is
    also 0 for tables that count only captured packets. Raises BadInput.
    """
    if not text.strip() or table in OF_CAPTURES:
        return 0
    with connection(folder) as db:
        (found,) = db.execute(LEFT_OUT).fetchall()
    return int(found[0])


def _short(columns: tuple[str, ...], row: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Return the row with its IPv6 addresses in their short form."""
    return tuple(
        str(ip_address(cell)) if name.startswith("address") and isinstance(cell, str) else cell
        for name, cell in zip(columns, row, strict=True)
    )

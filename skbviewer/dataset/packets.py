# SPDX-License-Identifier: MIT
"""The packets of all sessions of a dataset, ordered by time."""

from __future__ import annotations

from pathlib import Path

from ..records import Progress
from ..records.protocols import TCP, UDP
from ..session.query_thread import Answer
from .duckdb_filter_connection import filter_connection
from .filter_sql import condition
from .query_thread import BOUNDS, run

# The columns of the table also have values of ICMP and ARP.
PORT = f"CASE WHEN protocol IN ({TCP}, {UDP}) THEN {{0}} END AS {{0}}"
COLUMNS = (
    f"session, host, number, ts_ns, saddr, {PORT.format('sport')}, daddr, {PORT.format('dport')}, "
    "protocol, len, verdict, kernel_ns, functions"
)


def packets(folder: Path, text: str, progress: Progress) -> Answer:
    """Return the packets of all sessions that match a display filter, sorted by time of capture.

    Raises BadInput, FilterError and Cancelled.
    """
    where = condition(text)
    sql = f"SELECT {COLUMNS} FROM packets p WHERE {where} ORDER BY ts_ns, session, number"  # noqa: S608
    with filter_connection(folder) as db:
        return run(db, folder, sql, BOUNDS, progress)

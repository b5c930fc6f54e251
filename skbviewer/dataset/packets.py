# SPDX-License-Identifier: MIT
"""The packets of all sessions of a dataset by time."""

from __future__ import annotations

from pathlib import Path

from ..records import Progress
from ..session.querying import Answer
from .filter_connection import filter_connection
from .filter_sql import condition
from .querying import BOUNDS, run

COLUMNS = (
    "session, host, number, ts_ns, saddr, sport, daddr, dport, protocol, len, verdict, kernel_ns, "
    "functions"
)


def packets(folder: Path, text: str, progress: Progress) -> Answer:
    """Return the packets that match a display filter, by time of capture.

    Raises BadInput, FilterError and Cancelled.
    """
    where = condition(text)
    sql = f"SELECT {COLUMNS} FROM packets p WHERE {where} ORDER BY ts_ns, session, number"  # noqa: S608
    with filter_connection(folder) as db:
        return run(db, folder, sql, BOUNDS, progress)

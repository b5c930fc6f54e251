# SPDX-License-Identifier: MIT
"""The last queries of the SQL console, in the settings."""

from __future__ import annotations

from PySide6.QtCore import QSettings

KEY = "sql_history"
MOST = 50


def queries() -> list[str]:
    """Return the last queries, latest first."""
    kept = QSettings().value(KEY, [])
    if isinstance(kept, str):  # Qt reads a list of one as a text
        return [kept]
    return [str(one) for one in kept] if isinstance(kept, list) else []


def add_query(sql: str) -> None:
    """Put a query at the top of the history; if it has more than MOST, the oldest is removed."""
    others = [one for one in queries() if one != sql]
    QSettings().setValue(KEY, [sql, *others][:MOST])

# SPDX-License-Identifier: MIT
"""Queries of a session file for the results that its import has stored."""

from __future__ import annotations

from sqlalchemy import Connection, inspect, select

from .sqlalchemy_tables import result


def stored_result(db: Connection, name: str) -> tuple[str, bytes] | None:
    """Return the stored result `name`: the program that computed it, and its bytes.

    Returns None if there is none.
    """
    if not inspect(db).has_table(result.name):
        return None
    row = db.execute(select(result.c.program, result.c.data).where(result.c.name == name)).first()
    return None if row is None else (row.program, row.data)

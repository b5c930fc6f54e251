# SPDX-License-Identifier: MIT
"""Queries of a session file about results that its import stored."""

from __future__ import annotations

from sqlalchemy import Connection, inspect, select

from .sqlalchemy_tables import result


def stored_result(db: Connection, name: str, program: str) -> bytes | None:
    """Return the bytes of the result `name`; None if `program` has stored none."""
    if not inspect(db).has_table(result.name):
        return None
    wanted = select(result.c.data).where(result.c.name == name, result.c.program == program)
    data: bytes | None = db.execute(wanted).scalars().first()
    return data

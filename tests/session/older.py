# SPDX-License-Identifier: MIT
"""A session as a program with other matching rules left it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from skbviewer.matching import RULES, UNNUMBERED, Rung
from skbviewer.store import schema

WRONG = (
    "Several packets have the same identity; they differ in their IPv6 flow label or fragment "
    "identification."
)
KEY = (schema.SESSION, schema.RULES)


def age(session: Path, rules: int = UNNUMBERED) -> None:
    """Give a session other rules' number, and packet 1 a reason that no rule gives it now."""
    with closing(sqlite3.connect(session)) as db, db:
        found = db.execute("SELECT value FROM meta WHERE source = ? AND key = ?", KEY).fetchall()
        assert found == [(str(RULES),)]
        db.execute("DELETE FROM meta WHERE source = ? AND key = ?", KEY)
        if rules != UNNUMBERED:
            row = (*KEY, str(rules))
            db.execute("INSERT INTO meta (source, key, value) VALUES (?, ?, ?)", row)
        db.execute("UPDATE packet SET rung = ? WHERE id = 1", (int(Rung.BY_IPV6),))

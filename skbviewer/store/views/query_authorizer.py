# SPDX-License-Identifier: MIT
"""Limit what a user's query may read, by an authorizer of SQLite.

SQLite (sqlite.org/c3ref/set_authorizer.html) passes only the name of the view in which a table is
read, but a user may give a table expression the name of a view.  Therefore views with random names
read the tables, and the documented views read these views.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing

from ..schema import TABLES
from .declared_views import VIEWS
from .view_sql import select, sql_name

BUILT_IN = "format"  # the other name of SQLite's printf, which may run for minutes in one call
FORBIDDEN = {"load_extension", "fts3_tokenizer", BUILT_IN}
# A conversion whose width or precision is an argument, or 10,000 and more.
WIDE = re.compile(r"%[-+ 0#,!]*(?:\*|\d{5}|\d*\.(?:\*|\d{5}))")
LONGEST = 1 << 18  # bytes of a value: no function takes long for values of this size
WIDE_IS_REFUSED = "printf: a width must be a number below 10,000"
ALWAYS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}


def checked_printf(form: object = None, *values: str | bytes | float | None) -> str | None:
    """Return the text of SQLite's printf(), if it has at most LONGEST bytes.

    If the text would be longer, returns a text that is too long, which SQLite rejects.

    Raises ValueError for a width of 10,000 or more.
    """
    if isinstance(form, str) and WIDE.search(form):
        raise ValueError(WIDE_IS_REFUSED)
    places = ", ".join("?" * (len(values) + 1))
    with closing(sqlite3.connect(":memory:")) as db:
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)  # many widths may be in one format
        (made,) = db.execute(f"SELECT printf({places})", (form, *values)).fetchone()
    if made is None and form:  # SQLite 3.40 returns NULL for a text that is too long
        return "x" * (LONGEST + 1)  # which the query's connection refuses
    return None if made is None else str(made)


class Gate:
    """Temporary views, and an authorizer that permits reading these views only."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._inner = {f"view_{secrets.token_hex(16)}": name for name in VIEWS}
        self._counted: set[str] = set()  # tables of the views that the statement names
        self._named: dict[str, set[str]] = {}
        db.create_function("printf", -1, checked_printf, deterministic=True)

    def make_views(self, wanted: Mapping[str, Collection[str]] | None = None) -> None:
        """Make the views anew; columns that a query does not need are NULL.

        `wanted` lists the needed columns of each view; None means all columns.
        """
        for inner, name in self._inner.items():
            columns = None if wanted is None else wanted.get(name, ())
            for view, text in (
                (inner, select(VIEWS[name], columns).replace("printf(", f"{BUILT_IN}(")),
                (name, f"SELECT * FROM temp.{sql_name(inner)}"),  # noqa: S608
            ):
                self._db.execute(f"DROP VIEW IF EXISTS temp.{sql_name(view)}")
                self._db.execute(f"CREATE TEMP VIEW {sql_name(view)} AS {text}")

    def named_columns(self, sql: str) -> dict[str, set[str]]:
        """Return the columns of each view that a statement names, without running the statement.

        Raises sqlite3.Error if the statement is wrong or not allowed.
        """
        self._db.set_authorizer(self._allows)
        try:
            self._db.execute(f"EXPLAIN {sql}").close()
        finally:
            self._db.set_authorizer(None)
        return self._named

    def close(self) -> None:
        """From now on, let the connection read nothing but the views."""
        self._db.execute("PRAGMA query_only = ON")
        self._db.set_authorizer(self._allows)

    def _allows(
        self, action: int, one: str | None, two: str | None, _: str | None, view: str | None
    ) -> int:
        """Return SQLITE_OK or SQLITE_DENY for an action; `view` is the view that contains it."""
        allowed = action in ALWAYS
        if action == sqlite3.SQLITE_FUNCTION:
            allowed = (two or "").lower() not in FORBIDDEN or view in self._inner
        elif action == sqlite3.SQLITE_READ and one is not None:
            allowed = self._may_read(one, two or "", view or "")
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def _may_read(self, table: str, column: str, view: str) -> bool:
        if table in VIEWS:
            self._named.setdefault(table, set()).add(column)
            return True
        if table in self._inner:
            declared = VIEWS[self._inner[table]]
            self._counted |= {declared.base, *(join.table for join in declared.joins)}
            return True
        if view in self._inner:
            return True
        # Without a column: rows are only counted.  SQLite no longer names the view then, and a
        # table expression looks like a table.
        return not column and (table in self._counted or not _is_stored(table))


def _is_stored(table: str) -> bool:
    """Return whether `table` is a stored table: one of a session or of SQLite itself."""
    return table.lower() in TABLES or table.lower().startswith(("sqlite_", "pragma_"))

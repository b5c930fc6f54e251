# SPDX-License-Identifier: MIT
"""docs/schema.md is what the declared views say."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import duckdb
import pytest

from skbviewer.records.table_columns import TEXT
from skbviewer.store.views.column_expressions import EventData, Stored
from skbviewer.store.views.declared_views import VIEWS

from .schema_page import PAGE, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.store.schema_page"


def test_times_are_int64_nanoseconds() -> None:
    columns = [column for view in VIEWS.values() for column in view.columns]
    times = [c.meaning for c in columns if c.meaning.name.endswith("_ns")]
    assert len(times) > 30
    assert {(c.type, c.unit) for c in times} == {("int64", "ns")}


def test_every_column_has_a_meaning_and_a_name_of_its_own() -> None:
    for view in VIEWS.values():
        names = [column.meaning.name for column in view.columns]
        assert len(set(names)) == len(names)
        assert all(column.meaning.meaning for column in view.columns), view.name


def test_numbers_are_stored_and_texts_are_made() -> None:
    for view in VIEWS.values():
        for column in view.columns:
            assert isinstance(column.value, Stored | EventData) == (column.meaning.type != TEXT)


ROWS = "SELECT 7 AS n, 'TCP_v4' AS f, 1 AS g UNION ALL SELECT NULL, 'tcp_ack', 1"


@pytest.mark.parametrize(
    ("differs", "same"),
    [
        ("SELECT max(n) / 2 FROM r", "SELECT max(n) / 2.0 FROM r"),
        ("SELECT sum(g + n) / 3 FROM r", "SELECT avg(n) FROM r"),
        (
            "SELECT count(*) FROM r WHERE f LIKE 'tcp%'",
            "SELECT count(*) FROM r WHERE f GLOB 'tcp*'",
        ),
        (
            "SELECT count(*) FROM r WHERE f LIKE 'TCP%'",
            "SELECT count(*) FROM r WHERE lower(f) LIKE 'tcp%'",
        ),
        ("SELECT n FROM r ORDER BY n", "SELECT n FROM r ORDER BY n NULLS FIRST"),
        ("SELECT n, f FROM r GROUP BY g", "SELECT max(n), max(f) FROM r GROUP BY g"),
        (
            'SELECT count(*) FROM r WHERE f = "tcp_ack"',
            "SELECT count(*) FROM r WHERE f = 'tcp_ack'",
        ),
    ],
)
def test_sqlite_and_duckdb_differ_only_as_the_page_says(differs: str, same: str) -> None:
    one, other = in_both(differs), in_both(same)
    assert one[0] != one[1] and other[0] == other[1]


def test_both_put_null_last_in_descending_order() -> None:
    lite, duck = in_both("SELECT n FROM r ORDER BY n DESC")
    assert lite == duck == [(7,), (None,)]


def in_both(sql: str) -> tuple[list[Any], list[Any] | None]:
    """Return the rows of a SELECT on table r in SQLite, and in DuckDB; None if DuckDB refuses."""
    with closing(sqlite3.connect(":memory:")) as lite, duckdb.connect() as duck:
        for db in (lite, duck):
            db.execute(f"CREATE TABLE r AS {ROWS}")
        rows = lite.execute(sql).fetchall()
        try:
            return rows, duck.execute(sql).fetchall()
        except duckdb.BinderException:
            return rows, None


@pytest.mark.parametrize("name", ["schema.md", "datasets.md"])
def test_examples_leave_out_candidates(name: str) -> None:
    """A packet with an exact leg may have candidates, too, whose times are not its own."""
    lines = PAGE.with_name(name).read_text(encoding="utf-8").splitlines()
    examples = "\n".join(line for line in lines if line.startswith("    ")).split(";")
    joined = [one for one in examples if "JOIN matches" in one]
    assert joined and all("verdict = 'exact'" in one for one in joined)

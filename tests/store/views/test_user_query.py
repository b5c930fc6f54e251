# SPDX-License-Identifier: MIT
"""A user's query reads the views, and nothing else; whatever it does ends within its bounds."""

from __future__ import annotations

import hashlib
import resource
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from skbviewer.records import BadInput, Cancelled, Silent
from skbviewer.session.query_thread import Answer, Bounds, query
from skbviewer.store.views.declared_views import VIEWS
from skbviewer.store.views.user_query import answer
from tests.e2e.samples import open_sample

ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) "


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return open_sample("drops", tmp_path_factory.mktemp("query"))[0].file


def run(file: Path, sql: str, **bounds: Any) -> Answer:
    return query(file, sql, Bounds()._replace(**bounds), Silent())


def refused(file: Path, sql: str, **bounds: Any) -> str:
    """The one line that a user gets."""
    before = hashlib.sha256(file.read_bytes()).digest()
    with pytest.raises(BadInput) as error:
        run(file, sql, **bounds)
    assert hashlib.sha256(file.read_bytes()).digest() == before
    assert "\n" not in str(error.value)
    return error.value.why


def test_views_can_be_joined_grouped_and_counted(file: Path) -> None:
    joined = "SELECT p.number, count(*) AS n FROM packets p JOIN matches m ON m.packet = p.number"
    found = run(file, f"{joined} JOIN calls c USING (leg) GROUP BY 1 ORDER BY 1")
    assert found.columns == ("number", "n") and found.cut == ""
    assert len(found.rows) == 30
    every = run(file, "SELECT count(*) FROM calls, sources")
    assert every.rows == [(2 * run(file, "SELECT count(*) FROM calls").rows[0][0],)]  # type: ignore[operator]


@pytest.mark.parametrize("table", VIEWS)
def test_columns_and_joins_that_are_left_out_change_no_value(file: Path, table: str) -> None:
    whole = run(file, f"SELECT * FROM {table}")
    for at, column in enumerate(whole.columns):
        alone = run(file, f'SELECT "{column}" FROM {table}')
        assert Counter(alone.rows) == Counter((row[at],) for row in whole.rows), column


def test_columns_in_common_are_found(file: Path) -> None:
    natural = run(file, "SELECT count(*) FROM waits NATURAL JOIN matches")
    plain = "SELECT count(*) FROM waits w JOIN matches m ON m.leg = w.leg AND m.series = w.series"
    assert natural.rows == run(file, f"{plain} AND m.source = w.source").rows != [(0,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM call",
        "SELECT count(*) FROM annotation",
        "SELECT count(*) FROM calls, annotation",
        "SELECT (SELECT count(*) FROM flag)",
        "SELECT * FROM main.calls",
        "SELECT * FROM main.packet",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM temp.sqlite_master",
        "SELECT sql FROM sqlite_temp_schema",
        "SELECT * FROM pragma_table_info('call')",
        "SELECT count(*) FROM pragma_database_list",
        "WITH calls AS (SELECT * FROM call) SELECT * FROM calls",
        "WITH calls(a) AS (SELECT text FROM annotation) SELECT a FROM calls",
        "WITH c AS (SELECT * FROM chunk) SELECT count(*) FROM c",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT format('%d', 1)",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only = OFF",
        "ATTACH '/tmp/x' AS y",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO '/tmp/never'",
        "INSERT INTO calls VALUES (1)",
        "WITH a AS (SELECT 1) INSERT INTO call SELECT * FROM a",
        "WITH a AS (SELECT 1) DELETE FROM call",
        "UPDATE packet SET ts = 0",
        "DROP TABLE call",
        "CREATE TEMP TABLE t (a)",
        "BEGIN",
        "EXPLAIN SELECT 1",
        "/* SELECT */ DELETE FROM call",
        "/**/" * 5000 + "DELETE FROM call",  # trying all divisions of 40 would never end
        "-- SELECT\nDROP VIEW calls",
        "SELECT 1; DROP TABLE call",
        "SELECT 1; SELECT 2",
        "",
        "SELECT",
        "nonsense",
    ],
)
def test_everything_else_is_refused(file: Path, sql: str) -> None:
    assert refused(file, sql).startswith("query: ")


def test_names_of_hidden_views_do_not_leak(file: Path) -> None:
    for sql in ("SELECT * FROM calls WHERE nothing = 1", "SELECT id FROM calls a, calls b"):
        assert "view_" not in refused(file, sql)


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT zeroblob(2e9)", "larger than 256 KiB"),
        ("SELECT length(randomblob(2000000000))", "larger than 256 KiB"),
        ("SELECT group_concat(function) FROM calls, packets", "larger than 256 KiB"),
        ("SELECT printf('%.*c', 2000000000, 'x')", "a width must be a number below 10,000"),
        (
            "SELECT length(printf(replace(hex(zeroblob(20000)), '00', '%9999d')))",
            "larger than 256 KiB",
        ),
        ("SELECT printf('%1000000000d', 1)", "a width must be a number below 10,000"),
        ("SELECT printf('%5%%-10000d', 1)", "a width must be a number below 10,000"),
        ("SELECT printf('%.10000f', 1)", "a width must be a number below 10,000"),
        ("SELECT * FROM calls WHERE function LIKE '" + "%a" * 99 + "'", "LIKE or GLOB pattern"),
        ("SELECT " + "1," * 500 + "1", "too many columns"),
        ("SELECT " + "1+" * 60000 + "1", "too large"),
    ],
)
def test_large_values_are_refused_at_once(file: Path, sql: str, why: str) -> None:
    begin, peak = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert why in refused(file, sql)
    assert time.monotonic() - begin < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 100 << 10  # KiB


@pytest.mark.parametrize(
    "sql", ["SELECT count(*) FROM calls a, calls b, calls c", f"{ENDLESS}SELECT sum(x) FROM t"]
)
def test_time_is_bounded(file: Path, sql: str) -> None:
    begin = time.monotonic()
    assert refused(file, sql, seconds=0.3) == "query: the statement took more than 0.3 s"
    assert time.monotonic() - begin < 3


def test_rows_and_their_size_are_bounded(file: Path) -> None:
    found = run(file, f"{ENDLESS}SELECT x FROM t", rows=10)
    assert (len(found.rows), found.cut) == (10, "only the first 10 rows")
    large = run(file, f"{ENDLESS}SELECT zeroblob(100000) FROM t", size=1 << 20)
    assert (len(large.rows), large.cut) == (10, "only the first 1 MiB")
    assert run(file, "SELECT id FROM calls LIMIT 10", rows=10).cut == ""


def test_memory_is_bounded(file: Path) -> None:
    growing = f"{ENDLESS}SELECT zeroblob(100000) FROM t"
    assert "more than 32 MiB of memory" in refused(file, growing, size=1 << 30, memory=32 << 20)


def test_the_process_has_no_bound_of_memory_afterwards(file: Path) -> None:
    run(file, "SELECT count(*) FROM packets")
    with closing(sqlite3.connect(":memory:")) as db:
        assert db.execute("PRAGMA hard_heap_limit").fetchone() == (0,)


def test_temporary_files_are_bounded(file: Path) -> None:
    sorting = f"{ENDLESS}SELECT x, zeroblob(100000) FROM t ORDER BY 2, 1"
    assert "more than 64 MiB of disk space" in refused(file, sorting, written=64 << 20)


def test_kernels_that_do_not_count_writing_are_no_error(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise PermissionError

    monkeypatch.setattr(Path, "read_text", refuse)
    assert run(file, "SELECT count(*) FROM calls a, sources b").rows[0][0]


def test_another_thread_stops_it(file: Path) -> None:
    stop, errors = Event(), list[Exception]()

    def work() -> None:
        try:
            answer(file, f"{ENDLESS}SELECT sum(x) FROM t", Bounds(), stop)
        except Cancelled as error:
            errors.append(error)

    thread = Thread(target=work)
    thread.start()
    time.sleep(0.3)
    begin = time.monotonic()
    stop.set()
    thread.join(10)
    assert errors and time.monotonic() - begin < 1


def test_progress_cancels(file: Path) -> None:
    class Once(Silent):
        def report(self, what: str, done: int, total: int) -> None:
            raise Cancelled

    with pytest.raises(Cancelled):
        query(file, f"{ENDLESS}SELECT sum(x) FROM t", Bounds(), Once())


def test_printf_is_sqlites(file: Path) -> None:
    sql = "SELECT printf('%5.2f|%-4d|%s|%%', 3.14159, 7, NULL), printf('%x', -1), printf(NULL)"
    assert run(file, sql).rows == [(" 3.14|7   ||%", "ffffffffffffffff", None)]
    assert run(file, "SELECT printf('%d * %d 12345', 2, 3)").rows == [("2 * 3 12345",)]
    assert run(file, "/**/" * 5000 + "SELECT 1").rows == [(1,)]

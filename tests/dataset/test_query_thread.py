# SPDX-License-Identifier: MIT
"""A user's SQL reads the tables of the dataset, and nothing else of the machine."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import pytest

from skbviewer.dataset import dataset_paths
from skbviewer.dataset.query_thread import BOUNDS, query
from skbviewer.records import BadInput, Cancelled, Silent
from skbviewer.store.views.declared_views import VIEWS
from tests.dataset.recordings import Both, files_of

SECRET = "nologin"
OTHERS = (
    "COPY packets TO '{out}'",
    "COPY (SELECT 1) TO '{own}'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "ATTACH '{out}'",
    "SET memory_limit = '64GB'",
    "RESET memory_limit",
    "SET enable_external_access = true",
    "CREATE TABLE t (a INTEGER)",
    "DROP VIEW packets",
    "CREATE OR REPLACE VIEW packets AS SELECT 1",
    "DELETE FROM packets",
    "EXPORT DATABASE '{out}'",
    "IMPORT DATABASE '/etc'",
    "PRAGMA memory_limit = '64GB'",
    "CALL pragma_version()",
    "EXPLAIN ANALYZE SELECT 1",
    "SELECT 1; SELECT 2",
    "",
    "   -- nothing",
)
READING = (
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/proc/self/environ')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM parquet_metadata('{other}')",
    "SELECT * FROM read_parquet('{other}')",
    "SELECT * FROM read_text('{manifests}')",
    "SELECT * FROM read_csv('https://example.org/x.csv')",
    "SELECT * FROM read_duckdb('{other}')",
    "WITH a AS (SELECT * FROM read_csv('/etc/passwd')) SELECT * FROM packets, a",
    "SELECT getenv('HOME')",
    "SELECT * FROM secret",  # a variable of this module, and of the caller
)


@pytest.fixture
def places(both: Both, tmp_path: Path) -> dict[str, Path]:
    other = tmp_path / "other.parquet"
    tables = [path for path in files_of(both.folder) if path.suffix == ".parquet"]
    other.write_bytes(tables[0].read_bytes())
    manifests = next((both.folder / "manifests").iterdir())
    return {"out": tmp_path / "out", "own": tables[0], "other": other, "manifests": manifests}


@pytest.mark.parametrize("sql", OTHERS)
def test_only_one_select_is_allowed(both: Both, places: dict[str, Path], sql: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in files_of(both.folder)}
    with pytest.raises(BadInput, match="query: ") as raised:
        query(both.folder, sql.format_map(places), BOUNDS, Silent())
    assert "\n" not in str(raised.value)
    assert not places["out"].exists()
    assert before == {path: path.stat().st_mtime_ns for path in files_of(both.folder)}


@pytest.mark.parametrize("sql", READING)
def test_other_files_cannot_be_read(both: Both, places: dict[str, Path], sql: str) -> None:
    secret = SECRET
    with pytest.raises(BadInput, match=r"Permission Error|Catalog Error") as raised:
        query(both.folder, sql.format_map(places), BOUNDS, Silent())
    assert "\n" not in str(raised.value)
    assert secret not in str(raised.value)


def test_all_tables_have_the_partitions(both: Both) -> None:
    for name, view in VIEWS.items():
        found = query(both.folder, f"SELECT * FROM {name} LIMIT 1", BOUNDS, Silent())
        columns = [column.meaning.name for column in view.columns]
        assert found.columns == (*columns, "date", "host", "session")


def test_an_empty_dataset_has_all_tables(tmp_path: Path) -> None:
    dataset_paths.make(tmp_path / "d")
    for name in VIEWS:
        assert query(tmp_path / "d", f"SELECT * FROM {name}", BOUNDS, Silent()).rows == []


def test_values_of_all_types(both: Both) -> None:
    sql = "SELECT DATE '2026-01-02', 1::HUGEINT << 70, 0.5, 'a', NULL, [1, 2], true, '\\x01'::BLOB"
    (row,) = query(both.folder, sql, BOUNDS, Silent()).rows
    assert row == ("2026-01-02", 1 << 70, 0.5, "a", None, "[1, 2]", True, b"\x01")
    assert [type(cell) for cell in row[1:3]] == [int, float]
    assert query(both.folder, "SELECT 7::DECIMAL(9, 0)", BOUNDS, Silent()).rows == [(7,)]


def test_rows_bytes_and_time_are_bounded(both: Both) -> None:
    few = query(both.folder, "SELECT * FROM range(100)", BOUNDS._replace(rows=7), Silent())
    assert len(few.rows) == 7 and few.cut == "only the first 7 rows"
    size = BOUNDS._replace(size=1 << 20)
    wide = query(both.folder, "SELECT repeat('x', 300000) FROM range(9)", size, Silent())
    assert len(wide.rows) == 3 and wide.cut == "only the first 1 MiB"
    endless = "SELECT count(*) FROM range(10000000) a, range(10000000) b"
    begin = time.monotonic()
    with pytest.raises(BadInput, match="the statement took more than 1 s"):
        query(both.folder, endless, BOUNDS._replace(seconds=1.0), Silent())
    assert time.monotonic() - begin < 30


def test_memory_is_bounded(both: Both) -> None:
    with pytest.raises(BadInput, match="the statement needs more than 1536MiB of memory"):
        query(both.folder, "SELECT length(repeat('x', 4000000000))", BOUNDS, Silent())


def test_it_can_be_cancelled(both: Both) -> None:
    class Stop:
        def report(self, what: str, done: int, total: int) -> None:
            raise Cancelled

    with pytest.raises(Cancelled):
        query(both.folder, "SELECT count(*) FROM range(9999999) a, range(9999999)", BOUNDS, Stop())
    assert threading.active_count() < 20


def test_a_missing_table_is_an_error_not_an_empty_answer(both: Both, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(both.folder, copy)
    for path in files_of(copy / "tables" / "calls"):
        path.unlink()
    with pytest.raises(BadInput, match="is missing") as raised:
        query(copy, "SELECT count(*) FROM calls", BOUNDS, Silent())
    assert "\n" not in str(raised.value)


def test_a_host_name_is_kept_as_it_is(tmp_path: Path) -> None:
    made = dataset_paths.table_file("packets", "2026-01-02", "a/b c='é", "0" * 32, "1" * 16)
    assert len(made.parts) == 6 and ".." not in made.parts

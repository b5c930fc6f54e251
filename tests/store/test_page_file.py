# SPDX-License-Identifier: MIT
"""Written pages have the rows that SQLite itself would store, at all limits of the format."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.records import RECORD_DTYPE, Silent, empty
from skbviewer.store import Builder, bulk_load, open_session, schema
from skbviewer.store.btree import blob_rows, page_file
from skbviewer.store.btree.row_cell_loops import PAGE
from skbviewer.store.session_files import connect_new
from skbviewer.store.table_declarations import BLOB, FLOAT, INTEGER, TEXT, Column, Index, Table

Values = npt.NDArray[np.generic]
Columns = dict[str, Values]
WIDTH_EDGES = [-1, 0, 1, 2] + [s * (1 << 8 * w - 1) - e for w in (1, 2, 3, 4, 6) for s in (1, -1)
                               for e in (0, 1)] + [(1 << 63) - 1, -(1 << 63)]  # fmt: skip

BY_INDEX = "SELECT {1}, id FROM {0}.t INDEXED BY t_{1} ORDER BY {1}, id"


def declare(columns: Columns, indexed: tuple[str, ...]) -> tuple[Table, tuple[Index, ...]]:
    kinds = {name: FLOAT if c.dtype.kind == "f" else INTEGER for name, c in columns.items()}
    table = Table("t", tuple(Column(name, kind) for name, kind in kinds.items()))
    indexes = [Index(f"t_{name}", table, (name,)) for name in indexed]
    if len(indexed) > 1:
        indexes.append(Index("t_both", table, indexed))
    return table, tuple(indexes)


def write(path: Path, writer: type[bulk_load.Bulk], parts: list[Columns], *indexed: str) -> Path:
    table, indexes = declare(parts[0], indexed)
    with closing(connect_new(path)) as connection:
        connection.execute(table.creation())
        made = writer(connection, path, indexes)
        for part in parts:
            made.add(table, part)
        made.finish(Silent())
    return path


def touched(path: Path) -> Path:
    path.touch()
    return path


def same(folder: Path, parts: list[Columns], *indexed: str) -> Path:
    """Write with both writers, compare; returns the page writer's file."""
    one = write(touched(folder / "rows.db"), bulk_load.Rows, parts, *indexed)
    two = write(touched(folder / "pages.db"), bulk_load.Pages, parts, *indexed)
    with closing(sqlite3.connect(two)) as db:
        db.execute("ATTACH ? AS reference", (str(one),))
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        total = sum(len(next(iter(part.values()))) for part in parts)
        assert db.execute("SELECT count(*) FROM t NOT INDEXED").fetchone() == (total,)
        for a, b in (("main", "reference"), ("reference", "main")):
            differs = f"SELECT * FROM {a}.t EXCEPT SELECT * FROM {b}.t LIMIT 3"  # noqa: S608
            assert db.execute(differs).fetchall() == []
        for name in indexed:
            found = [
                db.execute(BY_INDEX.format(of, name)).fetchall() for of in ("main", "reference")
            ]
            assert found[0] == found[1]
    return two


def columns_of(count: int) -> Columns:
    rng = np.random.default_rng(count)
    return {
        "a": rng.integers(0, max(count // 7, 1), count, np.int32),
        "b": rng.integers(-(1 << 62), 1 << 62, count),
        "c": rng.random(count),
        "d": np.full(count, -1),
    }


# A leaf takes some 130 rows, an index leaf some 300, an interior page 370 to 500 children.
COUNTS = [0, 1, 2, 126, 127, 128, 129, 130, 131, 132, 255, 300, 301, 302, 303, 304, 16_383, 16_384]
COUNTS += [16_385, 50_000, 150_000]


@pytest.mark.parametrize("count", COUNTS)
def test_any_number_of_rows(tmp_path: Path, count: int) -> None:
    same(tmp_path, [columns_of(count)], "a", "b")


@pytest.mark.parametrize("count", range(560, 600, 3))
def test_any_filling_of_the_last_index_leaf(tmp_path: Path, count: int) -> None:
    same(tmp_path, [columns_of(count)], "a")


def test_row_ids_of_four_bytes(tmp_path: Path) -> None:
    count = (1 << 21) + 2
    columns: list[Columns] = [{"a": np.arange(count) * 7 % 1000}]
    one = write(touched(tmp_path / "rows.db"), bulk_load.Rows, columns)
    two = write(touched(tmp_path / "pages.db"), bulk_load.Pages, columns, "a")
    with closing(sqlite3.connect(two)) as db:  # EXCEPT would sort them all
        db.execute("ATTACH ? AS reference", (str(one),))
        assert db.execute("PRAGMA main.integrity_check").fetchall() == [("ok",)]
        assert db.execute("SELECT count(*) FROM t NOT INDEXED").fetchone() == (count,)
        equal = "SELECT count(*) FROM main.t NOT INDEXED JOIN reference.t AS r USING (id, a)"
        assert db.execute(equal).fetchone() == (count,)


def test_parts_of_any_size(tmp_path: Path) -> None:
    sizes = (1, 0, 3, 123, 1, 20_000, 7, 16_384, 5)
    same(tmp_path, [columns_of(size) for size in sizes], "a", "b")


def test_parts_that_fit_on_one_page(tmp_path: Path) -> None:
    same(tmp_path, [columns_of(5), columns_of(6), columns_of(2)], "a")


@pytest.mark.parametrize("count", [1, 3, 200, 9000, 20_000])
def test_cells_of_few_bytes(tmp_path: Path, count: int) -> None:
    """A row id and a header of one column, without a value or with one byte."""
    same(tmp_path, [{"a": np.zeros(count, np.int64)}], "a")
    for path in tmp_path.iterdir():
        path.unlink()
    same(tmp_path, [{"a": np.arange(count) % 2}], "a")


def test_cells_of_many_bytes(tmp_path: Path) -> None:
    """Columns of any width beside each other, of which some are the same in all rows."""
    dice, count = np.random.default_rng(1), 3000
    widths = dice.choice([0, 1, 2, 3, 4, 6, 8], 100)
    columns: Columns = {}
    for number, width in enumerate(widths.tolist()):
        most = 1 << max(8 * width - 1, 0)
        values = dice.integers(-most, most, count)
        columns[f"c{number}"] = np.full(count, values[0]) if number % 3 == 0 else values
    same(tmp_path, [columns], "c1")


@pytest.mark.parametrize("low", WIDTH_EDGES)
def test_every_width(tmp_path: Path, low: int) -> None:
    """Columns from each edge of a width to each other, in one table."""
    table: Columns = {}
    for number, high in enumerate(WIDTH_EDGES):
        table[f"c{number}"] = np.array([low, high, low], np.int64)
    same(tmp_path, [table], "c0", "c5")


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i1", "i2", "i4", "i8", "f8", "?"])
def test_every_type(tmp_path: Path, dtype: str) -> None:
    highest = 1 if dtype == "?" else 2 if dtype == "f8" else np.iinfo(dtype).max
    same(tmp_path, [{"a": np.array([0, highest, 1], dtype)}], *("a" if dtype != "f8" else ""))


def test_unsigned_64_bits_keep_their_bits(tmp_path: Path) -> None:
    values = np.array([0xFFFF888000001000, 5, 1 << 63, (1 << 64) - 1], np.uint64)
    path = same(tmp_path, [{"a": values}], "a")
    with closing(sqlite3.connect(path)) as db:
        found = [row[0] for row in db.execute("SELECT a FROM t ORDER BY id")]
    assert found == values.astype(np.int64).tolist()


def test_columns_apart_in_memory(tmp_path: Path) -> None:
    rows = np.zeros(1000, [("x", "u1"), ("a", "<i8"), ("b", ">i4")])
    rows["a"], rows["b"] = np.arange(1000) << 33, np.arange(1000)
    same(tmp_path, [{"a": rows["a"], "b": rows["b"][::-1]}], "a", "b")


def test_as_many_columns_as_a_record_has(tmp_path: Path) -> None:
    rows = empty(RECORD_DTYPE, 5000)
    rows["ts"] = np.arange(5000) * (1 << 40)
    same(tmp_path, [{name: rows[name] for name in RECORD_DTYPE.names or ()}], "ts")


SIZES = [0, 1, 100, 480, 4040, 4050, 4051, 4052, 4053, 4054, 4055, 4056, 4057, 4060, 4070, 4096]
SIZES += [4500, 8130, 8140, 8141, 8142, 8143, 8144, 8150, 65_536, 262_144, 400_000, 1_000_000]


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 60, 900])
def test_blobs_of_any_size(tmp_path: Path, count: int) -> None:
    """Cells whole, cut, and followed by chains of pages; trees of one leaf and of two levels."""
    dice = np.random.default_rng(count)
    sizes = [*dice.choice(SIZES[:20], count).tolist(), *SIZES] if count > 7 else SIZES[:count]
    rows: list[tuple[blob_rows.Value, ...]] = [
        ("tëxt" * (n % 5), n * (-1) ** n << n % 50, dice.bytes(size))
        for n, size in enumerate(sizes)
    ]
    table = Table("t", (Column("name", TEXT), Column("n", INTEGER), Column("data", BLOB)))
    found = []
    for writer in (bulk_load.Rows, bulk_load.Pages):
        path = touched(tmp_path / f"{writer.__name__}.db")
        with closing(connect_new(path)) as connection:
            connection.execute(table.creation())
            made = writer(connection, path, ())
            for begin in range(0, len(rows), 10):
                made.add_records(table, rows[begin : begin + 10])
            made.finish(Silent())
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            found.append(connection.execute("SELECT * FROM t").fetchall())
            assert connection.execute("SELECT max(id) FROM t").fetchone() == (len(rows) or None,)
    assert found[0] == found[1]
    assert [row[1:] for row in found[1]] == rows


def test_blobs_around_the_lock_page(tmp_path: Path) -> None:
    path = touched(tmp_path / "a.db")
    table = Table("t", (Column("data", BLOB),))
    with closing(connect_new(path)) as connection:
        connection.execute(table.creation())
        os.truncate(path, (page_file.LOCK_PAGE - 20) * PAGE)
        page_file.PageFile(path).close()
        writer = bulk_load.Pages(connection, path, ())
        rows = [(bytes([n]) * 30_000,) for n in range(9)]
        writer.add_records(table, rows)
        writer.finish(Silent())
        found = connection.execute("PRAGMA integrity_check(5)").fetchall()
        assert all("never used" in line for (line,) in found), found  # the hole we made
        assert connection.execute("SELECT data FROM t ORDER BY id").fetchall() == rows


def test_it_can_be_changed_afterwards(tmp_path: Path) -> None:
    path = same(tmp_path, [columns_of(50_000)], "a", "b")
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE t SET a = a + 100000, b = b / 2 WHERE id % 3 = 0")
        db.execute("DELETE FROM t WHERE id % 5 = 1")
        db.executemany(
            "INSERT INTO t (a, b, c, d) VALUES (?, ?, 0.5, 7)", [(i, -i) for i in range(9999)]
        )
        db.commit()
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("SELECT count(*) FROM t").fetchone() == (50_000 - 10_000 + 9999,)
        before = db.execute("SELECT total(a), total(b), max(id) FROM t").fetchone()
        db.execute("VACUUM")
        db.execute("ANALYZE")
        assert db.execute("SELECT total(a), total(b), max(id) FROM t").fetchone() == before
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_the_page_with_the_lock_byte_is_left_out(tmp_path: Path) -> None:
    """SQLite reserves the byte at 1 GiB, and a sparse file reaches it without much writing."""
    path = touched(tmp_path / "a.db")
    columns = columns_of(30_000)
    table, indexes = declare(columns, ("a",))
    with closing(connect_new(path)) as connection:
        connection.execute(table.creation())
        os.truncate(path, (page_file.LOCK_PAGE - 20) * PAGE)
        page_file.PageFile(path).close()  # writes the size to the header
        writer = bulk_load.Pages(connection, path, indexes)
        writer.add(table, columns)
        writer.finish(Silent())
        found = connection.execute("PRAGMA integrity_check(5)").fetchall()
        assert all("never used" in line for (line,) in found), found  # the hole we made
        rows = connection.execute("SELECT a FROM t ORDER BY id").fetchall()
    assert [a for (a,) in rows] == columns["a"].tolist()
    with path.open("rb") as raw:
        raw.seek((page_file.LOCK_PAGE - 1) * 4096)
        assert raw.read(4096) == bytes(4096)
        assert raw.read(1) != b"\0"


def test_unusual_settings_fall_back_to_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bulk_load.fastest(tmp_path / "sample") is bulk_load.Pages
    monkeypatch.setattr(page_file, "TABLE_LEAF", 0x0C)  # as if the format were another
    assert bulk_load.fastest(tmp_path / "sample") is bulk_load.Rows
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("writer", [bulk_load.Rows, bulk_load.Pages])
def test_a_session_by_either_writer(tmp_path: Path, writer: type[bulk_load.Bulk]) -> None:
    columns: Columns = {name: np.arange(40_000) for name in schema.event.names}
    columns["leg"] = np.arange(40_000) // 9
    out = tmp_path / "a.skbv"
    with Builder(out, bulk=writer) as builder:
        builder.add_array(schema.event, columns)
        builder.finish()
    with open_session(out).connect() as db:
        assert db.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
        wanted = "SELECT ts FROM event INDEXED BY event_leg WHERE leg = 4"
        assert db.exec_driver_sql(wanted).scalars().all() == list(range(36, 45))

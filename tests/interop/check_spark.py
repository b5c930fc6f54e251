# SPDX-License-Identifier: MIT
"""Spark, DuckDB and the session's views agree on each bundled sample: types, counts, sums, joins.

pytest does not collect this file by itself: `make interop` names it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from skbviewer.export import Request, write_parquet
from skbviewer.records.table_columns import DOUBLE, INT32, INT64, TEXT
from skbviewer.store.views.declared_views import VIEWS
from tests.e2e.samples import NAMES, open_sample

TYPES = {INT64: "bigint", INT32: "int", DOUBLE: "double", TEXT: "string"}
SELECTS = (
    "SELECT function, count(*), sum(self_ns), max(dur_ns) FROM calls GROUP BY function",
    "SELECT reason, place, count(*) FROM drops GROUP BY reason, place",
    "SELECT p.number, p.saddr, sum(c.self_ns) FROM packets p JOIN matches m ON m.packet = p.number "
    "JOIN calls c ON c.leg = m.leg GROUP BY p.number, p.saddr",
    "SELECT l.kind, w.kind, sum(w.end_ns - w.begin_ns) FROM legs l JOIN waits w ON w.leg = l.id "
    "GROUP BY l.kind, w.kind",
    *(f"SELECT * FROM {table}" for table in VIEWS),
)


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    settings = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    settings = settings.config("spark.sql.shuffle.partitions", "1")
    folder = str(tmp_path_factory.mktemp("spark"))
    session = settings.config("spark.sql.warehouse.dir", folder).getOrCreate()
    yield session
    session.stop()


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", ("handshake", *NAMES))
def test_spark_reads_what_the_session_holds(spark: Any, name: str, tmp_path: Path) -> None:
    file = open_sample(name, tmp_path)[0]
    out = tmp_path / "tables.parquet"
    write_parquet(file, Request(), out)
    duck = duckdb.connect()
    for table, view in VIEWS.items():
        frame = spark.read.parquet(str(out / f"{table}.parquet"))
        frame.createOrReplaceTempView(table)
        duck.execute(f"CREATE VIEW {table} AS SELECT * FROM '{out / table}.parquet'")
        expected = [(c.meaning.name, TYPES[c.meaning.type]) for c in view.columns]
        assert frame.dtypes == expected
    with closing(sqlite3.connect(file.file)) as db:
        for sql in SELECTS:
            rows = Counter(db.execute(sql).fetchall())
            assert Counter(map(tuple, spark.sql(sql).collect())) == rows, sql
            assert Counter(duck.execute(sql).fetchall()) == rows, sql
    (data,) = spark.sql(
        f"SELECT sum(length(bytes)) FROM parquet.`{out}/packet_bytes.parquet`"
    ).first()
    (caplen,) = spark.sql("SELECT sum(caplen) FROM packets").first()
    assert data == caplen

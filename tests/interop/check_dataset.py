# SPDX-License-Identifier: MIT
"""Spark, DuckDB, Polars and pandas read the folder of a dataset, and get equal sums.

The dataset has all bundled recordings, each table in several files.  pytest does not collect this
file by itself: `make interop` names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest
from pyspark.sql import SparkSession

from skbviewer.dataset import parallel_table_writing
from skbviewer.records.table_columns import INT32, INT64, TEXT
from skbviewer.store.views import view_blocks
from skbviewer.store.views.declared_views import VIEWS
from tests.dataset.recordings import NAMES, Both, make_both

Sums = dict[str, tuple[int, ...]]  # by session: rows, and for each column its sum, or texts in it


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parallel_table_writing, "ROWS", 20_000)
        patched.setattr(view_blocks, "BLOCK", 2_000)
        return make_both(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    settings = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    settings = settings.config("spark.sql.shuffle.partitions", "1")
    # Otherwise an id that has only digits becomes a number.
    settings = settings.config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    folder = str(tmp_path_factory.mktemp("spark"))
    session = settings.config("spark.sql.warehouse.dir", folder).getOrCreate()
    yield session
    session.stop()


def _columns(table: str) -> tuple[list[str], list[str]]:
    """Return the columns of numbers and those of texts of a table."""
    columns = [column.meaning for column in VIEWS[table].columns]
    numbers = [column.name for column in columns if column.type in (INT32, INT64)]
    return numbers, [column.name for column in columns if column.type == TEXT]


def _sql(table: str, number: str, quote: str) -> str:
    """Return a SELECT of the sums by session.

    `number` is the engine's widest type of integers; `quote` is written around names of columns.
    """
    numbers, texts = _columns(table)
    asked = [f"coalesce(sum(CAST({quote}{name}{quote} AS {number})), 0)" for name in numbers]
    asked += [f"count(DISTINCT {quote}{name}{quote})" for name in texts]
    return f"SELECT session, count(*), {', '.join(asked)} FROM {table} GROUP BY session"


def _by_session(rows: list[Any]) -> Sums:
    return {str(session): tuple(map(int, sums)) for session, *sums in rows}


def _polars_sums(folder: Path, table: str) -> Sums:
    numbers, texts = _columns(table)
    lazy = polars.scan_parquet(folder / "**/*.parquet", hive_partitioning=True)
    asked = [polars.col(name).cast(polars.Int128).sum() for name in numbers]
    asked += [polars.col(name).drop_nulls().n_unique() for name in texts]
    grouped = lazy.group_by(polars.col("session").cast(polars.String))
    return _by_session(grouped.agg(polars.len().alias("number of rows"), *asked).collect().rows())


def _pandas_sums(folder: Path, table: str) -> Sums:
    numbers, texts = _columns(table)
    frame = pandas.read_parquet(folder, dtype_backend="pyarrow")
    found = []
    for session, part in frame.groupby("session", observed=True):
        sums = [sum(map(int, part[name].dropna())) for name in numbers]
        found.append([session, len(part), *sums, *(part[name].nunique() for name in texts)])
    return _by_session(found)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("table", VIEWS)
def test_four_engines_agree(spark: Any, both: Both, table: str) -> None:
    folder = both.folder / "tables" / table
    if not folder.exists():  # no recording has such rows
        assert not both.rows(f"SELECT * FROM {table}")
        return
    wanted = _by_session(both.rows(_sql(table, "HUGEINT", '"')))
    assert wanted and set(wanted) <= set(both.sessions)
    spark.read.parquet(str(folder)).createOrReplaceTempView(table)
    assert _by_session(spark.sql(_sql(table, "DECIMAL(38, 0)", "`")).collect()) == wanted
    assert _polars_sums(folder, table) == wanted
    assert _pandas_sums(folder, table) == wanted


def test_spark_reads_only_the_partitions_of_a_host(spark: Any, both: Both) -> None:
    frame = spark.read.parquet(str(both.folder / "tables" / "calls"))
    assert frame.select("host").distinct().collect() == [("lab",)]
    assert frame.where("host = 'other'").count() == 0
    assert frame.select("session").distinct().count() == len(NAMES)
    assert len(list((both.folder / "tables" / "calls").rglob("*.parquet"))) > len(NAMES)

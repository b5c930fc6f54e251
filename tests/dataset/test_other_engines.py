# SPDX-License-Identifier: MIT
"""Polars and pandas read the folder of a dataset, with its partitions, and get its sums."""

from __future__ import annotations

import pandas
import polars
import pytest

from tests.dataset.recordings import Both

COLUMNS = (("packets", "len"), ("calls", "dur_ns"), ("calls", "entry_ns"), ("events", "ts_ns"))


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_equal_sums_by_session(both: Both, table: str, column: str) -> None:
    folder = both.folder / "tables" / table
    sql = f"SELECT session, sum({column})::HUGEINT FROM {table} WHERE host = 'lab' GROUP BY 1"
    wanted = dict(both.rows(sql))
    assert len(wanted) == 6

    lazy = polars.scan_parquet(folder / "**/*.parquet", hive_partitioning=True)
    summed = lazy.filter(host="lab").group_by("session").agg(polars.col(column).sum()).collect()
    assert dict(summed.iter_rows()) == wanted

    frame = pandas.read_parquet(folder, columns=["session", "host", "date", column])
    assert set(frame["host"]) == {"lab"}
    groups = frame.groupby("session", observed=True)[column]
    assert {name: sum(map(int, part.dropna())) for name, part in groups} == wanted

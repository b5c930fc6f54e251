# SPDX-License-Identifier: MIT
"""Polars and the session's views agree on each bundled sample: types, counts and sums."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import polars
import pytest

from skbviewer.export import Request, write_parquet
from skbviewer.records.table_columns import DOUBLE, INT32, INT64, TEXT
from skbviewer.store.views.declared_views import VIEWS
from tests.e2e.samples import NAMES, open_sample

TYPES = {INT64: polars.Int64, INT32: polars.Int32, DOUBLE: polars.Float64, TEXT: polars.String}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ("handshake", *NAMES))
def test_polars_reads_what_the_session_holds(name: str, tmp_path: Path) -> None:
    file = open_sample(name, tmp_path)[0]
    out = tmp_path / "tables.parquet"
    write_parquet(file, Request(), out)
    with closing(sqlite3.connect(file.file)) as db:
        for table, view in VIEWS.items():
            frame = polars.read_parquet(out / f"{table}.parquet")
            types = {c.meaning.name: TYPES[c.meaning.type] for c in view.columns}
            assert dict(frame.schema) == types
            numbers = [column for column, kind in types.items() if kind is polars.Int64]
            asked = ", ".join(["count(*)", *(f'total("{column}")' for column in numbers)])
            count, *totals = db.execute(f"SELECT {asked} FROM {table}").fetchone()
            assert frame.height == count
            found = [frame[column].cast(polars.Float64).sum() for column in numbers]
            assert found == pytest.approx(totals, rel=1e-9), table
            texts = [column for column, kind in types.items() if kind is polars.String]
            for column in texts:
                sql = f'SELECT count("{column}"), count(DISTINCT "{column}") FROM {table}'
                some = frame[column].drop_nulls()
                assert (some.len(), some.n_unique()) == db.execute(sql).fetchone(), (table, column)
    sizes = polars.read_parquet(out / "packet_bytes.parquet")["bytes"].bin.size()
    assert sizes.sum() == polars.read_parquet(out / "packets.parquet")["caplen"].sum()

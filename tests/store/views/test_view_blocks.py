# SPDX-License-Identifier: MIT
"""Documented tables in arrays hold what the session's SQL views hold, in all bundled samples."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skbviewer.analysis.stats import STATISTICS, Chosen
from skbviewer.records.table_columns import DTYPES, TEXT
from skbviewer.session import Session
from skbviewer.store.views import view_blocks, view_rows
from skbviewer.store.views.declared_views import VIEWS
from tests.e2e.samples import NAMES, open_sample
from tests.session.test_points import import_points as points
from tests.session.two_logs import two_logs

Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module", params=("handshake", *NAMES))
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    return open_sample(request.param, tmp_path_factory.mktemp("views"))[0]


def selected(session: Session, sql: str) -> Rows:
    with closing(sqlite3.connect(session.file)) as db:
        return db.execute(sql).fetchall()


def in_arrays(session: Session, table: str) -> Rows:
    columns: dict[str, list[Any]] = {name: [] for name in session.tables.columns(table)}
    for block in session.tables.blocks(table):
        for name, vector in block.items():
            columns[name] += vector.objects()
    return list(zip(*columns.values(), strict=True))


@pytest.mark.parametrize("make", [two_logs, points])
def test_arrays_equal_the_views_of_other_sessions(
    make: Callable[[Path], Session], tmp_path: Path
) -> None:
    session = make(tmp_path)
    for table in VIEWS:
        expected = selected(session, f"SELECT * FROM {table}")
        assert in_arrays(session, table) == expected, table
    assert selected(session, "SELECT count(*) FROM lifetimes WHERE device IS NOT NULL") != [(0,)]


@pytest.mark.parametrize("table", VIEWS)
def test_arrays_equal_the_sql_view(session: Session, table: str) -> None:
    expected = selected(session, f"SELECT * FROM {table}")
    assert in_arrays(session, table) == expected
    assert expected


@pytest.mark.parametrize("table", VIEWS)
def test_joins_neither_add_nor_remove_rows(session: Session, table: str) -> None:
    view = VIEWS[table]
    where = f' WHERE "{view.where[0].partition(".")[2]}" = {view.where[1]}' if view.where else ""
    rows = selected(session, f'SELECT count(*) FROM "{view.base}"{where}')
    assert selected(session, f"SELECT count(*) FROM {table}") == rows


@pytest.mark.parametrize("table", VIEWS)
def test_types_are_as_declared(session: Session, table: str) -> None:
    for column, vector in next(iter(session.tables.blocks(table))).items():
        (declared,) = (c.meaning for c in VIEWS[table].columns if c.meaning.name == column)
        if declared.type == TEXT:
            assert vector.words is not None and vector.values.dtype == np.int32
            missing = bool((vector.values < 0).any())
        else:
            assert vector.values.dtype == DTYPES[declared.type]
            missing = vector.missing is not None
        assert declared.null or not missing, f"{column} says that no value is missing"


def test_blocks_and_large_tables_are_the_same_rows(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {table: in_arrays(session, table) for table in ("calls", "matches", "drops")}
    monkeypatch.setattr(view_blocks, "BLOCK", 100)
    monkeypatch.setattr(view_rows, "MAX_COMBINATIONS", 0)  # as with many combinations of keys
    assert {table: in_arrays(session, table) for table in whole} == whole


def test_drops_are_those_of_the_statistics(session: Session) -> None:
    table = STATISTICS["drops"].make(session.stats.scope(Chosen(None, None, None, True)))
    expected = {tuple(row)[:2]: tuple(row)[3] for row in table.rows}
    sql = "SELECT reason, coalesce(place, '') FROM drops WHERE leg IS NOT NULL"
    assert Counter(selected(session, sql)) == expected != {}


def test_chosen_packets_have_their_rows_and_no_others(session: Session) -> None:
    chosen = session.tables.chosen(np.array([2, 5]))
    got = {
        table: [
            v for b in session.tables.blocks(table, [column], chosen) for v in b[column].objects()
        ]
        for table, column in (("packets", "number"), ("matches", "leg"), ("calls", "id"))
    }
    legs = selected(session, "SELECT leg FROM matches WHERE packet IN (2, 5)")
    calls = "SELECT id FROM calls WHERE leg IN (SELECT leg FROM matches WHERE packet IN (2, 5))"
    assert got["packets"] == [2, 5]
    assert got["matches"] == [leg for (leg,) in legs]
    assert got["calls"] == [call for (call,) in selected(session, calls)] != []


def test_unknown_tables_and_columns_are_refused(session: Session) -> None:
    with pytest.raises(KeyError, match="no table call: expected one of sources, packets"):
        next(session.tables.blocks("call"))
    with pytest.raises(KeyError, match="table calls has no column ts"):
        next(session.tables.blocks("calls", ["ts"]))

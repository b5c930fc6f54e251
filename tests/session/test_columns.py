# SPDX-License-Identifier: MIT
"""The columns of an imported recording are those of its tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from skbviewer.records import resource
from skbviewer.session import Session, import_files

TABLES = ("packet", "series", "leg", "call", "event", "match")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = resource("samples/drops")
    out = tmp_path_factory.mktemp("columns") / "s.skbv"
    import_files([folder / "drops.pcap", folder / "drops.kbl"], out)
    return Session.open(out)


@pytest.mark.parametrize("table", TABLES)
def test_columns_are_those_of_the_table(session: Session, table: str) -> None:
    names = session.columns.names(table)
    with closing(sqlite3.connect(session.file)) as db:
        listed = ", ".join(f'"{name}"' for name in names)
        statement = f"SELECT {listed} FROM {table} ORDER BY id"  # noqa: S608
        rows = db.execute(statement).fetchall()
    assert len(rows) == session.columns.length(table) > 0
    for name, values in zip(names, zip(*rows, strict=True), strict=True):
        assert session.columns.array(table, name).tolist() == list(values), name


def test_kernel_only_rows_show_an_identity(session: Session) -> None:
    numbers = session.columns.array("series", "kernel_only")
    shown = numbers > 0
    assert shown.sum() == session.packets.all_kernel_only_count() > 0
    assert (session.columns.array("series", "ip_version")[shown] != 0).any()

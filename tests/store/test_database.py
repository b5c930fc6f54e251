# SPDX-License-Identifier: MIT
"""A file that is no session is refused with a sentence that says why."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from skbviewer.records import BadInput, OtherVersion
from skbviewer.store import Builder, is_session, open_session, queries, schema


def session(path: Path) -> Path:
    with Builder(path) as builder:
        builder.add_rows(schema.task, [(1, 7, "ping")])
        builder.finish()
    return path


def refused(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        open_session(path)
    assert caught.value.path == path
    return caught.value.why


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()


def test_a_session_opens(tmp_path: Path) -> None:
    path = session(tmp_path / "a b%20c?#.skbv")
    with open_session(path).connect() as db:
        assert queries.tasks(db, 1) == {7: "ping"}
    assert is_session(path)


def test_a_session_is_opened_for_reading_only(tmp_path: Path) -> None:
    engine = open_session(session(tmp_path / "a.skbv"))
    with engine.connect() as db, pytest.raises(OperationalError, match="readonly"):
        db.exec_driver_sql("DELETE FROM task")


def test_no_file(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "none.skbv")
    assert not is_session(tmp_path / "none.skbv")


def test_a_directory(tmp_path: Path) -> None:
    assert "Is a directory" in refused(tmp_path)
    assert not is_session(tmp_path)


@pytest.mark.parametrize("data", [b"", b"SQLite", b"\xd4\xc3\xb2\xa1" + bytes(100)])
def test_no_sqlite_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.skbv"
    path.write_bytes(data)
    assert "no SQLite database" in refused(path)
    assert not is_session(path)


def test_an_sqlite_file_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "a.skbv"
    execute(path, "CREATE TABLE bookmarks (url TEXT)")
    assert "not a session of skbviewer" in refused(path)


def test_another_version(tmp_path: Path) -> None:
    path = session(tmp_path / "a.skbv")
    execute(path, f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    assert f"format {schema.SCHEMA_VERSION + 1}" in refused(path)


def test_only_the_head_of_an_sqlite_file(tmp_path: Path) -> None:
    path = tmp_path / "a.skbv"
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 200)
    assert refused(path)


def test_another_version_names_its_inputs(tmp_path: Path) -> None:
    path = session(tmp_path / "a.skbv")
    execute(path, "PRAGMA user_version = 1")
    with pytest.raises(OtherVersion) as caught:
        open_session(path)
    assert caught.value.inputs == ()
    execute(path, "DROP TABLE event_name")
    execute(path, f"PRAGMA user_version = {schema.SCHEMA_VERSION}")
    with pytest.raises(OtherVersion, match="it has no event_name"):
        open_session(path)


def test_a_session_that_is_cut(tmp_path: Path) -> None:
    path = session(tmp_path / "a.skbv")
    whole = path.read_bytes()
    for kept in (len(whole) - 1, len(whole) // 2, 4096, 100):
        path.write_bytes(whole[:kept])
        assert refused(path) == f"the session is cut: {len(whole) - kept} bytes are missing"
    path.write_bytes(whole[:99])
    assert refused(path) == "the session file ends in the middle of its header"


def test_damage_is_reported_by_whatever_meets_it(tmp_path: Path) -> None:
    path = session(tmp_path / "a.skbv")
    with closing(sqlite3.connect(path)) as db:
        asked = "SELECT rootpage FROM sqlite_master WHERE name = 'task'"
        (page,) = db.execute(asked).fetchone()
    data = bytearray(path.read_bytes())
    data[4096 * (page - 1) : 4096 * page] = b"\xaa" * 4096
    path.write_bytes(data)
    with open_session(path).connect() as db, pytest.raises(BadInput, match="session is damaged"):
        queries.tasks(db, 1)
    path.write_bytes(b"SQLite format 3\x00" + bytes(4080))
    assert refused(path).startswith("the session is damaged")

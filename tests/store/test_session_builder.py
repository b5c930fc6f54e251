# SPDX-License-Identifier: MIT
"""A session file is there whole, or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from skbviewer.records import RECORD_DTYPE, BadInput, Cancelled, Silent, empty
from skbviewer.store import Builder, open_session, queries, schema
from skbviewer.store.session_copies import copy_session
from skbviewer.store.stored_result_queries import stored_result

TOP = Path(__file__).resolve().parents[2]


def record_columns(count: int) -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    rows = empty(RECORD_DTYPE, count)
    rows["ts"] = np.arange(count)
    columns = {name: rows[name] for name in RECORD_DTYPE.names or ()}
    return columns | {"source": np.ones(count, np.int64), "series": np.ones(count, np.int64)}


def write(out: Path, count: int) -> None:
    with Builder(out) as builder:
        builder.add_array(schema.record, record_columns(count))
        builder.finish()


def test_what_was_added_is_there(tmp_path: Path) -> None:
    out = tmp_path / "new folder" / "a.skbv"
    out.parent.mkdir()
    with Builder(out) as builder:
        assert builder.count(schema.task) == 0
        builder.add_rows(schema.task, [(1, 7, "ping"), (1, 8, "tcpdump")])
        assert builder.count(schema.task) == 2
        builder.add_array(schema.record, record_columns(45_000))  # more than a batch
        assert not out.exists()
        builder.finish()
    assert os.listdir(out.parent) == ["a.skbv"]
    with open_session(out).connect() as db:
        assert queries.tasks(db, 1) == {7: "ping", 8: "tcpdump"}
        assert queries.count(db, schema.record) == 45_000


def test_large_results_are_found_while_the_session_is_read(tmp_path: Path) -> None:
    """SQLite writes what does not fit into its cache at once, unless somebody is reading."""
    out = tmp_path / "s.skbv"

    def results(file: Path) -> Iterator[tuple[str, str, bytes]]:
        engine = open_session(file)
        with engine.connect() as db:
            reading = db.exec_driver_sql("SELECT * FROM sqlite_master")
            for number in range(3):
                assert reading.fetchone() is not None
                yield f"result {number}", "a program", bytes([number]) * (24 << 20)
        engine.dispose()

    begin = time.monotonic()
    with Builder(out) as builder:
        builder.finish(results=results)
    assert time.monotonic() - begin < 12  # SQLite would wait 5 s for the reader with each row
    with open_session(out).connect() as db:
        for number in range(3):
            found = stored_result(db, f"result {number}")
            assert found == ("a program", bytes([number]) * (24 << 20))
        assert stored_result(db, "another") is None


def test_an_address_above_the_middle_keeps_its_bits(tmp_path: Path) -> None:
    columns = record_columns(1)
    columns["skb"] = np.array([0xFFFF888000001000], np.uint64).astype(np.int64)
    out = tmp_path / "a.skbv"
    with Builder(out) as builder:
        builder.add_array(schema.record, columns)
        builder.finish()
    with open_session(out).connect() as db:
        value = db.exec_driver_sql("SELECT printf('%x', skb) FROM record").scalar_one()
    assert value == "ffff888000001000"


@pytest.mark.parametrize("error", [Cancelled("stop"), KeyboardInterrupt(), ValueError("bug")])
def test_nothing_is_left_after_an_error(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)), Builder(tmp_path / "a.skbv") as builder:
        builder.add_array(schema.record, record_columns(10))
        raise error
    assert os.listdir(tmp_path) == []


def test_an_older_session_survives_an_error(tmp_path: Path) -> None:
    out = tmp_path / "a.skbv"
    write(out, 3)
    before = out.read_bytes()
    with pytest.raises(Cancelled), Builder(out) as builder:
        builder.add_array(schema.record, record_columns(10))
        raise Cancelled("stop")
    assert out.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.skbv"]


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """But nothing of a process that runs, nor of another session."""
    out = tmp_path / "a.skbv"
    dying = f"""
import os, signal
from pathlib import Path
from skbviewer.store import Builder
from tests.store.test_session_builder import record_columns, schema
with Builder(Path({str(out)!r})) as builder:
    builder.add_array(schema.record, record_columns(10))
    os.kill(os.getpid(), signal.SIGKILL)
"""
    write(out, 3)
    done = subprocess.run([sys.executable, "-c", dying], cwd=TOP, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 2
    others = [f".a.skbv.{os.getppid()}.tmp", ".a.skbv.x.tmp", ".b.skbv.999999999.tmp"]
    for name in others:
        (tmp_path / name).touch()
    write(out, 4)
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "a.skbv"])


def test_without_finish_nothing_is_left(tmp_path: Path) -> None:
    with Builder(tmp_path / "a.skbv") as builder:
        builder.add_array(schema.record, record_columns(10))
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "a.skbv"
    with pytest.raises(BadInput) as caught:
        write(out, 1)
    assert caught.value.path == out
    assert "cannot write the session" in caught.value.why


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB; mounting it takes root."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_disk_that_fills_up_while_rows_are_written(small_disk: Path) -> None:
    out = small_disk / "a.skbv"
    with pytest.raises(BadInput) as caught:
        write(out, 50_000)
    assert caught.value.path == out
    assert "full" in caught.value.why
    assert os.listdir(small_disk) == []


def test_a_disk_that_is_full_from_the_beginning(small_disk: Path) -> None:
    (small_disk / "rest").write_bytes(bytes(60 * 1024))
    with pytest.raises(BadInput) as caught:
        write(small_disk / "a.skbv", 1)
    assert "full" in caught.value.why
    assert os.listdir(small_disk) == ["rest"]


def test_a_copy_that_fills_the_disk_leaves_nothing(small_disk: Path, tmp_path: Path) -> None:
    write(tmp_path / "whole.skbv", 50_000)
    with pytest.raises(BadInput) as caught:
        copy_session(tmp_path / "whole.skbv", small_disk / "copy.skbv", Silent())
    assert "full" in caught.value.why
    assert os.listdir(small_disk) == []

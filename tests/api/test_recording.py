# SPDX-License-Identifier: MIT
"""The Python API gives what the commands and the session's views give."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import skbviewer
from skbviewer.analysis.display_filter import FilterError
from skbviewer.api import data_frames
from skbviewer.records import view_rows
from skbviewer.records.table_columns import TableColumn, TableMeaning, Vector
from skbviewer.session.query_thread import Answer
from skbviewer.store.views import view_blocks
from tests.e2e.samples import NAMES, open_sample

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/python-api.md"


@pytest.fixture(scope="module", params=("handshake", *NAMES))
def recording(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[skbviewer.Recording]:
    file = open_sample(request.param, tmp_path_factory.mktemp("api"))[0].file
    with skbviewer.open(file) as opened:
        yield opened


def selected(recording: skbviewer.Recording, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(recording.file)) as db:
        return db.execute(sql).fetchall()


def plain(value: Any) -> Any:
    """A value of an array as SQL has it."""
    lowest = {"int64": -(1 << 63), "int32": -(1 << 31)}
    kind = type(value).__name__
    return None if kind in lowest and value == lowest[kind] else value


@pytest.mark.parametrize("table", ["packets", "calls", "events", "matches", "sources", "clocks"])
def test_arrays_and_frames_equal_the_views(recording: skbviewer.Recording, table: str) -> None:
    expected = selected(recording, f"SELECT * FROM {table}")  # noqa: S608
    array = recording.array(table)
    names = array.dtype.names or ()
    assert names == tuple(column.name for column in recording.tables[table].columns)
    columns = [[plain(value) for value in array[name]] for name in names]
    assert list(zip(*columns, strict=True)) == expected
    assert list(recording.polars(table).rows()) == expected
    assert [tuple(row.values()) for row in recording.arrow(table).to_pylist()] == expected
    frame = recording.pandas(table)
    assert list(frame.columns) == list(names)
    for at, name in enumerate(names):
        got = [None if pandas.isna(value) else value for value in frame[name]]
        assert got == [row[at] for row in expected], name


def test_dtypes_are_those_of_the_schema(recording: skbviewer.Recording) -> None:
    kinds = {"int64": "<i8", "int32": "<i4", "double": "<f8", "text": "|O"}
    for name, table in recording.tables.items():
        dtype = recording.array(name).dtype
        assert [dtype[c.name].str for c in table.columns] == [kinds[c.type] for c in table.columns]


def test_blocks_are_joined(recording: skbviewer.Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ["function", "self_ns", "context"]
    frame, other = recording.polars("calls", columns), recording.pandas("calls", columns)
    array = recording.array("calls", columns)
    monkeypatch.setattr(view_blocks, "BLOCK", 1000)
    assert recording.polars("calls", columns).equals(frame)
    assert recording.pandas("calls", columns).to_dict("list") == other.to_dict("list")
    assert (recording.array("calls", columns) == array).all()


def test_packets_choose_rows(recording: skbviewer.Recording) -> None:
    udp = recording.filter("udp")
    assert recording.array("packets", ["number"], udp)["number"].tolist() == udp.tolist()
    calls = recording.array("calls", ["leg"], packets=udp[:1])
    legs = recording.match(int(udp[0])).legs if len(udp) else ()
    assert set(calls["leg"].tolist()) == set(legs)
    assert recording.filter("").tolist() == list(range(1, len(recording.array("packets")) + 1))


def test_match_and_path_are_those_of_the_command(recording: skbviewer.Recording) -> None:
    command = [sys.executable, "-m", "skbviewer", "path", str(recording.file), "--packet", "2"]
    done = subprocess.run([*command, "--json"], capture_output=True, check=True)
    printed = json.loads(done.stdout)
    path, match = recording.path(2), recording.match(2)
    assert [leg.begin_ns for leg in path.legs] == [leg["begin_ns"] for leg in printed["legs"]]
    assert match.series == tuple(sorted({leg.series for leg in path.legs}))
    assert path.packet is not None
    assert (match.verdict, match.reason) == (path.packet.verdict, path.packet.reason)


def test_clocks_go_both_ways(recording: skbviewer.Recording) -> None:
    for source in recording.sources:
        clock = recording.clock(source.id)
        ts = np.array([10**9, 2 * 10**9])
        assert np.abs(clock.from_session(clock.to_session(ts)) - ts).max() <= 1
        assert clock.error_ns is not None and clock.error_ns >= 0
    offset = selected(recording, "SELECT offset_ns FROM clocks WHERE source = 1")[0][0]
    assert recording.clock(1).to_session([5]).tolist() == [5 + offset]


def test_queries_and_info(recording: skbviewer.Recording) -> None:
    answer = recording.query("SELECT count(*) AS n FROM calls")
    assert (answer.columns, answer.rows) == (("n",), [(recording.info()["calls"],)])
    assert len(recording.query("SELECT * FROM calls", rows=3).rows) == 3


def test_errors(recording: skbviewer.Recording, tmp_path: Path) -> None:
    for call in (
        lambda: recording.array("call"),
        lambda: recording.array("calls", ["nothing"]),
        lambda: recording.array("calls", packets=[0]),
        lambda: recording.path(9999),
        lambda: recording.match(0),
        lambda: recording.clock(7),
    ):
        with pytest.raises(KeyError):
            call()
    with pytest.raises(FilterError):
        recording.filter("tcp.nothing ==")
    with pytest.raises(skbviewer.BadInput):
        recording.query("DROP TABLE call")
    with pytest.raises(skbviewer.BadInput):
        skbviewer.open(tmp_path / "none.skbv")
    with pytest.raises(TypeError):
        skbviewer.open()


Errors = type[Exception] | tuple[type[Exception], ...]


def refused(call: Callable[..., object], *words: Any, kind: Errors, why: str) -> None:
    with pytest.raises(kind, match=re.escape(why)):
        call(*words)


@pytest.mark.parametrize("table", ["calls", "sources"])
def test_a_single_name_is_one_column_and_no_names_are_refused(
    recording: skbviewer.Recording, table: str
) -> None:
    column = recording.tables[table].columns[0].name
    listed = recording.array(table, [column])
    assert (recording.array(table, column) == listed).all() and len(listed)
    for method in (recording.array, recording.arrow, recording.pandas, recording.polars):
        refused(method, table, [], kind=ValueError, why="at least one name")


def test_packets_are_whole_numbers(recording: skbviewer.Recording) -> None:
    wrong: list[Any] = [[5.5], [True], [1, True], np.array([1.0]), 5.5, True, "1", ["K1"]]
    for packets in wrong:
        refused(recording.array, "calls", "leg", packets, kind=TypeError, why="not")
        refused(recording.match, packets, kind=TypeError, why="not")
    for packet in (None, 5.5, True, [1]):
        refused(recording.path, packet, kind=TypeError, why="not")
    for beyond in (1 << 63, 1 << 70, -(1 << 70)):
        refused(recording.array, "calls", "leg", [beyond], kind=KeyError, why="no such packet")
        refused(recording.path, beyond, kind=KeyError, why="no packet")
    two = recording.array("calls", "leg", [2])
    for same in (2, (2, 2), np.array([2, 2], np.uint8), range(2, 3), pandas.Series([2])):
        assert recording.array("calls", "leg", same).tolist() == two.tolist() != []
    assert not len(recording.array("calls", "leg", []))


def test_paths_of_rows_without_a_packet_are_those_of_the_command(
    recording: skbviewer.Recording,
) -> None:
    rows = recording.query("SELECT id FROM lifetimes WHERE kernel_only = 2").rows
    if not rows:
        refused(recording.path, "K2", kind=KeyError, why="no packet K2")
        return
    path = recording.path("K2")
    assert path.packet is None and path == recording.path("k2")
    assert {(leg.series,) for leg in path.legs} == set(rows)
    for wrong in ("K99999999", "K" + "9" * 30, "K0", "K-1", "2", "K1.5", -2, 0):
        refused(recording.path, wrong, kind=KeyError, why=f"no packet {wrong}")


def test_times_keep_their_shape(recording: skbviewer.Recording) -> None:
    clock, table = recording.clock(1), np.arange(6).reshape(2, 3) * 10**9
    for convert in (clock.to_session, clock.from_session):
        flat = convert(table.reshape(-1))
        assert (convert(table) == flat.reshape(2, 3)).all()
        one = convert(10**9)
        assert isinstance(one, np.int64) and one == flat[1]
        assert convert([]).tolist() == []
        refused(convert, 1.5, kind=TypeError, why="times: expected whole numbers, not 1.5")
        refused(convert, [1 << 63], kind=OverflowError, why="beyond int64")


def test_a_filter_is_a_text(recording: skbviewer.Recording) -> None:
    refused(recording.filter, None, kind=TypeError, why="'' matches all packets")


def test_a_closed_recording_refuses_everything_but_its_file(tmp_path: Path) -> None:
    file = open_sample("handshake", tmp_path)[0].file
    with skbviewer.open(file) as recording:
        clock = recording.clock(1)
    recording.close()
    assert recording.file == file and clock.to_session([1]).shape == (1,)
    for name in {name for name in dir(recording) if not name.startswith("_")} - {"file", "close"}:
        with pytest.raises(ValueError, match="the recording is closed"):
            attribute = getattr(recording, name)
            attribute(*([] if name == "info" else [1 if name in ("match", "clock") else "K1"]))
    with pytest.raises(ValueError, match="closed"), recording:
        pass


def test_missing_numbers_of_every_type() -> None:
    missing = np.array([False, True])
    block = {
        "a": Vector(np.array([1, 2], np.int64), missing),
        "b": Vector(np.array([1, 2], np.int32), missing),
        "c": Vector(np.array([1.5, 2.5]), missing),
        "d": Vector(np.array([0, -1], np.int32), None, ["x"]),
    }
    array = data_frames.structured_array([block])
    assert array[1].tolist()[:2] == (skbviewer.UNKNOWN, -(1 << 31))
    assert np.isnan(array["c"][1]) and array["d"].tolist() == ["x", None]
    assert data_frames.polars([block]).rows()[1] == (None,) * 4
    assert data_frames.polars([block]).dtypes == [
        polars.Int64, polars.Int32, polars.Float64, polars.String
    ]  # fmt: skip


def test_a_missing_library_is_named(
    recording: skbviewer.Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, method in (("polars", recording.polars), ("pyarrow", recording.arrow)):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            with pytest.raises(ImportError, match=f"pip install {name}"):
                method("calls")


def test_importing_the_package_loads_no_library() -> None:
    code = "import skbviewer, sys; print([m for m in ('numpy', 'sqlalchemy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_stable_fields_are_those_of_the_document() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    types = (Answer, TableMeaning, TableColumn, skbviewer.Match, view_rows.PacketPath,
             view_rows.PacketRow, view_rows.Leg, view_rows.PathCall, view_rows.Wait,
             view_rows.PathEvent, view_rows.SourceRow)  # fmt: skip
    rows = dict(re.findall(r"^\| `([A-Z]\w+)` \| (.*) \|$", text, re.M))
    assert set(rows) == {type_.__name__ for type_ in types}
    for type_ in types:
        named = set(re.findall(r"`([a-z]\w*)`", rows[type_.__name__]))
        assert named and named <= set(type_._fields), type_.__name__
        assert type_.__doc__ and "(" not in type_.__doc__.split("\n")[0][:10]  # not made by Python


def test_every_public_function_has_a_docstring() -> None:
    for owner in (skbviewer.Recording, skbviewer.Clock, skbviewer.BadInput):
        for name, value in vars(owner).items():
            if callable(value) or isinstance(value, property):
                assert name == "__init__" or value.__doc__, f"{owner.__name__}.{name}"
    assert skbviewer.open.__doc__


def test_stable_names_are_those_of_the_document() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `skbviewer\.(\w+)", text, re.M))
    assert documented == set(skbviewer.__all__)
    members = set(re.findall(r"^\| `recording\.(\w+)", text, re.M))
    assert members == {name for name in dir(skbviewer.Recording) if not name.startswith("_")}
    stub = (DOCUMENT.parents[1] / "skbviewer/__init__.pyi").read_text(encoding="utf-8")
    assert set(re.findall(r'"(\w+)"', stub.partition("__all__")[2])) == set(skbviewer.__all__)
    for name in skbviewer.__all__:
        assert getattr(skbviewer, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        skbviewer.nothing  # type: ignore[attr-defined]  # noqa: B018

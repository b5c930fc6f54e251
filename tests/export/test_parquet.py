# SPDX-License-Identifier: MIT
"""Parquet files, read by DuckDB, Polars and pyarrow, hold the rows of the session's views."""

from __future__ import annotations

import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import dpkt
import duckdb
import polars
import pyarrow
import pyarrow.parquet as parquet
import pytest

from skbviewer.export import Request, write_parquet
from skbviewer.records import BadInput, Cancelled, Silent, resource
from skbviewer.session import Session
from skbviewer.store.views.declared_views import VIEWS
from tests.e2e.samples import NAMES, open_sample

# Each runs on both without a change.
SELECTS = (
    *(f"SELECT * FROM {table} ORDER BY 1, 2, 3" for table in VIEWS if table != "waits"),
    "SELECT * FROM waits ORDER BY leg, begin_ns",
    "SELECT function, count(*), sum(self_ns), max(dur_ns) FROM calls GROUP BY function ORDER BY 1",
    "SELECT reason, place, count(*) FROM drops GROUP BY reason, place ORDER BY 1, 2",
    "SELECT p.number, p.saddr, m.device, sum(c.self_ns) FROM packets p "
    "JOIN matches m ON m.packet = p.number JOIN calls c ON c.leg = m.leg "
    "GROUP BY p.number, p.saddr, m.device ORDER BY 1, 2, 3",
    "SELECT l.kind, w.kind, sum(w.end_ns - w.begin_ns) FROM legs l JOIN waits w ON w.leg = l.id "
    "GROUP BY l.kind, w.kind ORDER BY 1, 2",
    "SELECT count(*) FROM packets WHERE kernel_ns IS NULL OR saddr IS NULL",
    "SELECT x.comm, count(*) FROM calls c JOIN processes x ON x.pid = c.pid AND "
    "x.source = c.source GROUP BY x.comm ORDER BY 1",
)


class Exported:
    """A sample's session and its Parquet files."""

    def __init__(self, name: str, folder: Path) -> None:
        self.session = open_sample(name, folder)[0]
        self.folder = folder / "tables.parquet"
        write_parquet(self.session, Request(), self.folder)
        self.name = name

    def sqlite(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.session.file)) as db:
            return db.execute(sql).fetchall()

    def duckdb(self, sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect() as db:
            for file in self.folder.iterdir():
                db.execute(f"CREATE VIEW {file.stem} AS SELECT * FROM '{file}'")
            return db.execute(sql).fetchall()


@pytest.fixture(scope="module", params=("handshake", *NAMES))
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return Exported(request.param, tmp_path_factory.mktemp("parquet"))


@pytest.fixture(scope="module")
def drops(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return open_sample("drops", tmp_path_factory.mktemp("drops"))[0]


@pytest.mark.parametrize("sql", SELECTS)
def test_the_same_select_gives_the_same_rows(exported: Exported, sql: str) -> None:
    from_views, from_parquet = exported.sqlite(sql), exported.duckdb(sql)
    assert Counter(from_parquet) == Counter(from_views)
    assert from_views


def wrapped(number: int) -> int:
    """A sum as 64 bits hold it."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def test_polars_sums_are_those_of_the_views(exported: Exported) -> None:
    for name, view in VIEWS.items():
        frame = polars.read_parquet(exported.folder / f"{name}.parquet")
        for column in view.columns:
            label, kind = column.meaning.name, column.meaning.type
            rows = exported.sqlite(f'SELECT "{label}" FROM {name} WHERE "{label}" IS NOT NULL')
            values = frame[label].drop_nulls()
            assert len(values) == len(rows)
            if kind == "double":
                assert values.sum() == pytest.approx(sum(row[0] for row in rows))
            elif kind != "text":
                total = wrapped(sum(row[0] for row in rows))
                assert values.cast(polars.Int64).sum() == total, f"{name}.{label}"


def test_types_are_those_that_every_reader_knows(exported: Exported) -> None:
    for file in exported.folder.iterdir():
        for column in parquet.ParquetFile(file).schema:
            logical = column.logical_type.type
            assert column.physical_type in ("INT32", "INT64", "DOUBLE", "BYTE_ARRAY"), column.name
            assert logical in ("NONE", "STRING"), f"{file.name} {column.name}: {logical}"


def test_columns_without_missing_values_are_required(exported: Exported) -> None:
    schema = parquet.ParquetFile(exported.folder / "calls.parquet").schema
    declared = {c.meaning.name: bool(c.meaning.null) for c in VIEWS["calls"].columns}
    assert {c.name: c.max_definition_level == 1 for c in schema} == declared


def test_packet_bytes_are_those_of_the_capture(exported: Exported) -> None:
    with resource(f"samples/{exported.name}/{exported.name}.pcap").open("rb") as file:
        frames = [bytes(frame) for _, frame in dpkt.pcap.Reader(file)]
    made = parquet.read_table(exported.folder / "packet_bytes.parquet")
    assert made["number"].to_pylist() == list(range(1, len(frames) + 1))
    assert made["bytes"].to_pylist() == frames


def read(folder: Path, table: str) -> pyarrow.Table:
    return parquet.read_table(folder / f"{table}.parquet")


def test_a_filter_keeps_what_belongs_to_its_packets(drops: Session, tmp_path: Path) -> None:
    out = tmp_path / "udp"
    write_parquet(drops, Request(filter="udp", snaplen=20), out)
    packets = drops.packets.select("udp")
    assert packets is not None
    assert read(out, "packets")["number"].to_pylist() == sorted(packets.tolist())
    assert set(read(out, "packets")["protocol"].to_pylist()) == {17}
    listed = drops.packets.select("udp", kernel_only=True, all_lives=True)
    assert listed is not None
    alone = {-row for row in listed.tolist() if row < 0}
    lives = read(out, "lifetimes").to_pylist()
    assert {life["kernel_only"] for life in lives if life["kernel_only"]} == alone
    of_alone = {life["id"] for life in lives if life["kernel_only"]}
    legs = read(out, "legs").to_pylist()
    chosen = {leg["id"] for leg in legs if leg["series"] in of_alone}
    chosen |= set(read(out, "matches")["leg"].to_pylist())
    assert {leg["id"] for leg in legs} == chosen
    assert set(read(out, "calls")["leg"].to_pylist()) == chosen
    assert set(read(out, "drops")["leg"].to_pylist()) <= chosen
    assert {len(data) for data in read(out, "packet_bytes")["bytes"].to_pylist()} == {20}
    assert read(out, "functions").num_rows == 273


def test_rows_that_only_the_kernel_saw(drops: Session, tmp_path: Path) -> None:
    write_parquet(drops, Request(rows=(-3,), payload=False), tmp_path / "k")
    assert read(tmp_path / "k", "packets").num_rows == 0
    assert read(tmp_path / "k", "lifetimes")["kernel_only"].to_pylist() == [3]
    assert read(tmp_path / "k", "calls").num_rows > 0
    assert not (tmp_path / "k/packet_bytes.parquet").exists()
    with pytest.raises(KeyError, match="no packet K9999"):
        write_parquet(drops, Request(rows=(-9999,)), tmp_path / "no")
    with pytest.raises(KeyError, match="no packet 31"):
        write_parquet(drops, Request(rows=(31,)), tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_the_same_request_gives_the_same_bytes(drops: Session, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_parquet(drops, Request(filter="tcp"), tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


class StopsAt(Silent):
    """Cancels when a table is begun."""

    def __init__(self, what: str) -> None:
        self.what = what

    def report(self, what: str, done: int, total: int) -> None:
        if what == self.what:
            raise Cancelled


@pytest.mark.parametrize("table", ["packets", "calls", "packet_bytes"])
def test_cancelling_leaves_nothing_and_what_was_there(
    drops: Session, tmp_path: Path, table: str
) -> None:
    with pytest.raises(Cancelled):
        write_parquet(drops, Request(progress=StopsAt(f"writing {table}")), tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
    write_parquet(drops, Request(filter="tcp"), tmp_path / "old")
    before = {file.name: file.read_bytes() for file in (tmp_path / "old").iterdir()}
    with pytest.raises(Cancelled):
        write_parquet(drops, Request(progress=StopsAt(f"writing {table}")), tmp_path / "old")
    assert {file.name: file.read_bytes() for file in (tmp_path / "old").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_an_earlier_export_is_replaced_and_nothing_else(drops: Session, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for text in ("tcp", "udp"):
        write_parquet(drops, Request(filter=text), out)
    assert read(out, "packets").num_rows == 23
    (out / "mine.txt").write_text("keep me")
    with pytest.raises(BadInput, match=r"holds other files, such as mine\.txt"):
        write_parquet(drops, Request(), out)
    assert (out / "mine.txt").read_text() == "keep me"
    with pytest.raises(BadInput, match="a file with this name exists"):
        write_parquet(drops, Request(), out / "mine.txt")
    with pytest.raises(BadInput, match="cannot write"):
        write_parquet(drops, Request(), tmp_path / "no/such/folder")


def test_the_missing_extra_is_named(
    drops: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput, match=r"needs pyarrow: .* 'skbviewer\[parquet\]'"):
        write_parquet(drops, Request(), tmp_path / "out")


def test_without_the_capture_only_bytes_are_missing(tmp_path: Path) -> None:
    copies = [tmp_path / name for name in ("nat.pcap", "nat.kbl")]
    for copy in copies:
        copy.write_bytes(resource(f"samples/nat/{copy.name}").read_bytes())
    from skbviewer.session import import_files

    import_files(copies, tmp_path / "s.skbv")
    copies[0].unlink()
    session = Session.open(tmp_path / "s.skbv")
    with pytest.raises(BadInput, match="--no-payload"):
        write_parquet(session, Request(), tmp_path / "out")
    write_parquet(session, Request(payload=False), tmp_path / "out")
    assert read(tmp_path / "out", "packets").num_rows == 18

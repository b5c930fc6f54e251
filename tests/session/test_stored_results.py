# SPDX-License-Identifier: MIT
"""Results that an import stores are those that are computed; damaged ones are not used."""

from __future__ import annotations

import io
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skbviewer.analysis.comparison import measure
from skbviewer.analysis.diagnosis import diagnose
from skbviewer.analysis.stats import STATISTICS, Chosen, Scope, Table, statistic_of
from skbviewer.analysis.stats.rows_from_columns import ColumnRows, Texts
from skbviewer.records import resource
from skbviewer.session import Session, import_files
from skbviewer.session.kernel import result_program_version, session_statistics
from skbviewer.session.kernel.result_serialisation import Damaged, decode, encode
from skbviewer.session.kernel.session_graphs import GRAPHS
from skbviewer.session.kernel.session_statistics import DIAGNOSIS, MEASUREMENTS, table_name
from skbviewer.session.session_comparison import comparison_of

SAMPLES = ("bulk", "drops", "nat", "ipv6-and-fragments")
NAMES = (*map(table_name, STATISTICS), *GRAPHS, DIAGNOSIS, MEASUREMENTS)


@pytest.fixture(scope="module", params=SAMPLES)
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    """A small session that stores its results nevertheless."""
    yield from _stored(request.param, tmp_path_factory)


@pytest.fixture(scope="module")
def bulk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from _stored("bulk", tmp_path_factory)


def _stored(name: str, folders: pytest.TempPathFactory) -> Iterator[Session]:
    log = resource(f"samples/{name}/{name}.kbl")
    out = folders.mktemp("results") / "made.skbv"
    with pytest.MonkeyPatch.context() as patch:
        for least in ("MANY_LEGS", "SLOW_LEGS"):
            patch.setattr(f"skbviewer.session.importing.{least}", 1)
        import_files([log, log.with_suffix(".pcap")], out)
    session = Session.open(out)
    yield session
    session.close()


def plain(value: Any) -> Any:
    """Arrays as lists with their type, and rows of tables as tuples."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, repr(value.tolist())  # nan is not equal to nan
    if isinstance(value, Table):
        return [*value[:1], [tuple(row) for row in value.rows], *value[2:]]
    if isinstance(value, tuple | list):
        return type(value).__name__, [plain(one) for one in value]
    return type(value).__name__, value


def makers(session: Session) -> dict[str, Callable[[], Any]]:
    """What computes each result."""

    of_scope: dict[str, Callable[[Scope], Any]] = {
        **{table_name(name): partial(statistic_of, name) for name in STATISTICS},
        **GRAPHS,
        DIAGNOSIS: diagnose,
        MEASUREMENTS: measure,
    }

    def made(make: Callable[[Scope], Any]) -> Any:
        return make(session.stats.scope())

    return {name: partial(made, make) for name, make in of_scope.items()}


def test_stored_results_are_those_that_are_computed(session: Session) -> None:
    with closing(sqlite3.connect(session.file)) as db:
        stored = {name for (name,) in db.execute("SELECT name FROM result")}
    assert stored == set(NAMES)
    for name, make in makers(session).items():
        assert plain(session.stats.stored(name)) == plain(make()), name


def refuse(*_: object) -> Any:
    raise AssertionError("a stored result was computed")


def test_everything_is_read(bulk: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = bulk.graphs
    found = comparison_of(bulk, bulk)
    assert not found.changes and found.tests > 100
    with monkeypatch.context() as patch:
        for name in ("statistic_of", "scope_of"):
            patch.setattr(session_statistics, name, refuse)
        for name in STATISTICS:
            assert bulk.stats.table(name).keys
        assert bulk.stats.diagnosis().judged
        assert graphs.latencies(Chosen()) and graphs.paths(Chosen()) and graphs.io(Chosen())
        assert graphs.stacks(Chosen()).names
        assert bulk.stats.table("conversations") is bulk.stats.table("conversations")  # kept


@pytest.mark.parametrize(
    "chosen",
    [
        Chosen(np.arange(1, 9)),
        Chosen(begin_ns=0),
        Chosen(end_ns=1 << 62),
        Chosen(everything=True),
        Chosen(interval_ns=10_000_000),
    ],
)
def test_a_choice_is_computed(bulk: Session, chosen: Chosen) -> None:
    graphs = bulk.graphs
    asked: dict[str, Callable[[Chosen], Any]] = {
        "io graph": graphs.io,
        "latency graph": graphs.latencies,
        "path graph": graphs.paths,
        "flame graph": graphs.stacks,
        "round trip graph": graphs.round_trips,
    }
    made = bulk.stats.scope(chosen)
    for name, make in GRAPHS.items():
        found = asked[name](chosen)
        assert plain(found) == plain(make(made))
    with pytest.raises(AssertionError):
        bulk.stats.stored_or(DIAGNOSIS, chosen, refuse)


def test_results_of_another_program_are_not_used(
    bulk: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bulk.stats.stored(DIAGNOSIS) is not None
    monkeypatch.setattr(result_program_version, "program", lambda: "another")
    assert all(bulk.stats.stored(name) is None for name in NAMES)


def test_the_program_is_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in result_program_version.CODE:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.py").write_text("x = 1\n")
    monkeypatch.setattr(result_program_version, "PACKAGE", tmp_path)
    whole = result_program_version.program.__wrapped__
    before = whole()
    assert whole() == before
    (tmp_path / "matching" / "one.py").write_text("x = 2\n")
    assert whole() != before


def test_no_results_of_code_that_was_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update while an import runs changes the hash, but not the code in memory."""
    assert result_program_version.is_unchanged()
    monkeypatch.setattr(result_program_version, "_started", lambda: 0.0)
    assert not result_program_version.is_unchanged()
    monkeypatch.setattr("skbviewer.session.importing.SLOW_LEGS", 1)
    log = resource("samples/handshake/handshake.kbl")
    session = Session.open(import_files([log], tmp_path / "s.skbv").path)
    assert session.stats.stored(DIAGNOSIS) is None
    session.close()


def test_a_result_that_fails_does_not_fail_the_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skbviewer.session.importing.SLOW_LEGS", 1)
    wrong = STATISTICS["layers"]._replace(make=lambda _: Table(("a",), [(np.int64(3),)]))
    monkeypatch.setitem(STATISTICS, "layers", wrong)
    log = resource("samples/handshake/handshake.kbl")
    session = Session.open(import_files([log], tmp_path / "s.skbv").path)
    assert session.stats.stored(table_name("layers")) is None
    assert session.stats.stored(table_name("functions")) is not None
    session.close()


def test_damaged_results_are_computed_again(
    tmp_path: Path, bulk: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy.skbv"
    bulk.save_as(copy)
    with closing(sqlite3.connect(copy)) as db, db:
        db.execute("UPDATE result SET data = substr(data, 1, length(data) / 2)")
    session = Session.open(copy)
    assert all(session.stats.stored(name) is None for name in NAMES)
    assert plain(session.stats.table("layers")) == plain(bulk.stats.table("layers"))
    session.close()


def test_older_sessions_have_no_results(tmp_path: Path, bulk: Session) -> None:
    copy = tmp_path / "copy.skbv"
    bulk.save_as(copy)
    with closing(sqlite3.connect(copy)) as db, db:
        db.execute("DROP TABLE result")
    session = Session.open(copy)
    assert session.stats.stored(DIAGNOSIS) is None
    assert plain(session.stats.table("functions")) == plain(bulk.stats.table("functions"))
    session.close()


def test_small_sessions_store_none(tmp_path: Path) -> None:
    log = resource("samples/handshake/handshake.kbl")
    out = import_files([log, log.with_suffix(".pcap")], tmp_path / "small.skbv").path
    with closing(sqlite3.connect(out)) as db:
        assert db.execute("SELECT count(*) FROM result").fetchone() == (0,)


@pytest.mark.parametrize(
    "value",
    [
        (),
        [1, None, -2.5, "text", True, (1, ("a",)), []],
        np.array([5, 5, 9, 1 << 62]),
        np.array([-(1 << 62), 3, 2]),
        np.array([[1.5, np.inf], [0.0, -1.0]]),
        np.zeros((0, 3), np.int64),
        np.array([True, False]),
        np.array([7], np.int32),
        np.array([1 << 63], np.uint64),
        Table(("a", "b"), [(1, None), (2, "x")], ("w",), ("n",)),
        Table(("a",), []),
        Table(("a",), [(1,), (2.5,), (None,)]),
        Table(("a",), [(None,), (None,)]),
    ],
    ids=str,
)
def test_values_return_as_they_were(value: object) -> None:
    assert plain(decode(encode(value))) == plain(value)


@pytest.mark.parametrize(
    "value", [object(), {1: 2}, np.int64(3), Chosen()], ids=lambda value: type(value).__name__
)
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(TypeError):
        encode(value)


def test_hostile_bytes_are_refused(bulk: Session) -> None:
    """Whatever the bytes are, only Damaged is raised, and nothing is run."""
    rng = np.random.default_rng(20261130)
    whole = zlib.decompress(encode(bulk.stats.table("layers")))
    for _ in range(300):
        raw = bytearray(whole)
        for at in rng.integers(0, len(raw), 8).tolist():
            raw[at] = int(rng.integers(256))
        try:
            decode(zlib.compress(bytes(raw)))
        except Damaged:
            continue
    for bad in (b"", b"\0" * 99, zlib.compress(b"PK\3\4")):
        with pytest.raises(Damaged):
            decode(bad)
    short = ["rows", ["Objects", ["list", 1, 2]], ["Objects", ["list", 1]]]
    keys = ["Table", ["tuple", "a", "b"], ["rows", ["Objects", ["list", 1]]]]
    for tree in (["system", "true"], ["array", 0, "O", [1], False, 0], short, keys):
        with pytest.raises(Damaged):
            decode(encode_tree(tree))
    beyond = ColumnRows([Texts(np.array([0, 7], np.int32), ("a",))])
    with pytest.raises(Damaged):
        decode(encode(Table(("a",), beyond)))
    for name in NAMES:
        with pytest.raises(Damaged):
            decode(encode("a text"), name)
    file = io.BytesIO()
    np.savez_compressed(file, tree=np.zeros(1 << 20, np.uint8))
    with pytest.raises(Damaged, match="compressed twice"):
        decode(zlib.compress(file.getvalue()))


def encode_tree(tree: object) -> bytes:
    """Bytes with this JSON and no arrays."""
    file = io.BytesIO()
    np.savez(file, tree=np.frombuffer(json.dumps(tree).encode(), np.uint8))
    return zlib.compress(file.getvalue())

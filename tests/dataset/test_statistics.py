# SPDX-License-Identifier: MIT
"""Statistics of a dataset are those of its sessions."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet as parquet
import pytest

from skbviewer.analysis.breakdown.lost_packets import Key
from skbviewer.analysis.stats import STATISTICS, Chosen
from skbviewer.dataset import dataset_paths
from skbviewer.dataset.add_task import add_pair
from skbviewer.dataset.stats.all_statistics import TABLES
from skbviewer.dataset.stats.statistics import lifetimes_left_out, lost_records, statistics
from skbviewer.records import Silent
from skbviewer.session import Session, import_files
from tests.dataset.recordings import Both, only, pair
from tests.truth.treatments import without_chunks

FILTERS = ("", "tcp", "udp || icmp", "kbl.drop_reason")
# Of these, sums over sessions are those of all sessions.
SUMS = {
    "functions": (("function",), ("count", "open", "total_ns", "self_ns")),
    "processes": (("process",), ("count", "legs", "total_ns")),
    "drops": (("reason", "function"), ("count", "lost", "wire")),
    "endpoints": (("kind", "address", "port"), ("packets", "bytes", "tx_packets", "rx_bytes")),
    "conversations": (("kind", "address_a", "port_a", "address_b", "port_b"), ("packets", "bytes")),
    "layers": (("kind", "layer"), ("calls", "count", "total_ns")),
    "latency": (("kind", "name"), ("count",)),
    "programs": (("process", "function", "layer"), ("count", "total_ns")),
    "callgraph": (("function", "role", "other"), ("count", "self_ns", "total_ns")),
}  # fmt: skip


def _wanted(both: Both, session: str, table: str, text: str) -> list[dict[str, Any]]:
    of = both.sessions[session]
    ids = of.packets.select(text) if text else None
    made = STATISTICS[table].make(of.stats.scope(Chosen(ids)))
    found = [dict(zip(made.columns, row, strict=True)) for row in made.rows]
    return [_as_known(table, row) for row in found if not _is_of_one_kind(table, row)]


def _as_known(table: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return the row without what the tables of a dataset lack: the data that TCP had already."""
    if table == "drops" and Key(row["reason"], row["function"]).may_be_needless:
        return row | {"lost": None}
    return row


def _is_of_one_kind(table: str, row: dict[str, Any]) -> bool:
    """Return whether only sessions, or only datasets, have such a row."""
    if table == "latency":
        return row["kind"] in ("path", "host", "hour", "layer")
    return row.get("kind") == "Ethernet" or row.get("layer") == "wire"


def _found(folder: Path, table: str, text: str) -> list[dict[str, Any]]:
    found = [row for row in _every(folder, table, text) if not _is_of_one_kind(table, row)]
    known = [_as_known(table, row) for row in found]
    assert all(row == one or not row["lost"] for row, one in zip(found, known, strict=True))
    return known


def _every(folder: Path, table: str, text: str) -> list[dict[str, Any]]:
    made = statistics(folder, table, text, Silent())
    return [dict(zip(made.columns, row, strict=True)) for row in made.rows]


@pytest.mark.parametrize("table", TABLES)
def test_one_session_has_the_rows_of_stats(both: Both, table: str, tmp_path: Path) -> None:
    for session in both.sessions:
        one = only(both, session, tmp_path / session)
        for text in FILTERS:
            wanted, found = _wanted(both, session, table, text), _found(one, table, text)
            shared = [
                name for name in (found or wanted or [{}])[0]
                if name != "host" and name in (wanted or [{}])[0]
            ]  # fmt: skip
            assert _rows(found, shared) == _rows(wanted, shared), (session, text)


def _rows(listed: list[dict[str, Any]], names: list[str]) -> list[str]:
    return sorted(str([row[name] for name in names]) for row in listed)


@pytest.mark.parametrize("table", TABLES)
def test_all_sessions_have_the_sums(both: Both, table: str) -> None:
    keys, sums = SUMS[table]
    for text in FILTERS:
        wanted: Counter[tuple[Any, ...]] = Counter()
        for session in both.sessions:
            for row in _wanted(both, session, table, text):
                for name in sums:
                    wanted[(*(row[key] for key in keys), name)] += row[name] or 0
        found: Counter[tuple[Any, ...]] = Counter()
        for row in _found(both.folder, table, text):
            for name in sums:
                found[(*(row[key] for key in keys), name)] += row[name] or 0
        assert found == wanted, text


def test_the_packet_of_drops_is_the_first(both: Both, tmp_path: Path) -> None:
    for session in both.sessions:
        found = _found(only(both, session, tmp_path / session), "drops", "")
        wanted = {
            (row["reason"], row["function"]): [f"{session}:{packet}" for packet in row["packets"]]
            for row in _wanted(both, session, "drops", "")
        }
        for row in found:
            packets = wanted.pop((row["reason"], row["function"]))
            assert row["packet"] == (packets[0] if packets else None)
        assert not wanted


def test_lost_is_unknown_if_the_log_may_lack_records(both: Both, tmp_path: Path) -> None:
    """A socket may have received the packet of a drop without a reason."""
    unknown = 0
    for session in both.sessions:
        copy = Path(shutil.copytree(only(both, session, tmp_path / session), tmp_path / "copy"))
        before = {(row["reason"], row["function"]): row for row in _found(copy, "drops", "")}
        (legs,) = copy.glob("tables/legs/*/*/*/*.parquet")
        table = parquet.read_table(legs, partitioning=None)
        at = table.schema.get_field_index("functions")
        nulls = pyarrow.nulls(len(table), table.schema.field(at).type)
        parquet.write_table(table.set_column(at, table.schema.field(at), nulls), legs)
        for row in _found(copy, "drops", ""):
            same = before[row["reason"], row["function"]]
            may_change = row["reason"] == "NOT_SPECIFIED" and same["lost"]
            assert row == same | ({"lost": None} if may_change else {})
            unknown += bool(may_change)
        shutil.rmtree(copy)
    assert unknown


@pytest.mark.parametrize("table", TABLES)
def test_lost_records_are_said_as_in_a_session(table: str, cut_log: tuple[Path, Session]) -> None:
    made, session = cut_log
    said = 0
    for text in ("", "udp", "frame"):
        ids = session.packets.select(f"({text}) && frame.number > 0") if text else None
        wanted = STATISTICS[table].make(session.stats.scope(Chosen(ids))).warnings
        if table == "functions":  # needs the calls during which records were lost
            wanted = ()
        found = lost_records(made, table, text, Silent())
        assert list(found) == [*wanted]
        said += len(wanted)
    assert said or table not in ("drops", "layers")


@pytest.fixture(scope="module")
def cut_log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Session]]:
    """A dataset and a session of a log that lacks a fifth of its chunks, and its capture."""
    out = tmp_path_factory.mktemp("cut")
    log, capture = pair("drops")
    assert without_chunks(log, out / "cut.kbl", share=0.2, seed=1)
    files = (out / "cut.kbl", Path(shutil.copy(capture, out / "cut.pcap")))
    dataset_paths.make(out / "dataset")
    assert add_pair(out / "dataset", files).added
    import_files(files, out / "s.skbv")
    session = Session.open(out / "s.skbv")
    yield out / "dataset", session
    session.close()


def test_latency_by_host_hour_and_layer(both: Both) -> None:
    for text in ("", "tcp"):
        rows = _every(both.folder, "latency", text)
        of = {
            kind: [row for row in rows if row["kind"] == kind] for kind in ("host", "hour", "layer")
        }
        (every,) = (row for row in rows if row["kind"] == "all packets")
        (host,) = of["host"]
        assert host == every | {"kind": "host", "name": "lab"}
        sums = both.rows(
            "SELECT count(*), min(kernel_ns), max(kernel_ns) FROM packets "
            f"WHERE kernel_ns IS NOT NULL{' AND protocol = 6' * bool(text)} "
            "GROUP BY ts_ns // 3600000000000 ORDER BY ALL"
        )
        assert sorted((row["count"], row["min_ns"], row["max_ns"]) for row in of["hour"]) == sums
        busy = [row for row in _every(both.folder, "layers", text) if row["kind"] == "busy"]
        same = ("count", "mean_ns", "p50_ns", "p99_ns", "max_ns")
        assert [(row["name"], *(row[name] for name in same)) for row in of["layer"]] == [
            (row["layer"], *(row[name] for name in same)) for row in busy
        ]


def test_an_unknown_table_is_named(both: Both) -> None:
    with pytest.raises(KeyError, match="clock is not one of callgraph, conversations"):
        statistics(both.folder, "clock", "", Silent())


def test_lifetimes_that_a_filter_leaves_out_are_counted(both: Both) -> None:
    counts = [of.packets.kernel_only_count() for of in both.sessions.values()]
    assert lifetimes_left_out(both.folder, "drops", "udp") == sum(counts) > 0
    assert lifetimes_left_out(both.folder, "drops", "") == 0
    assert lifetimes_left_out(both.folder, "endpoints", "udp") == 0

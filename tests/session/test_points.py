# SPDX-License-Identifier: MIT
"""A log of points: listed in the path; stages, durations and exact matches are refused."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from skbviewer import readers
from skbviewer.analysis.stats.statistics import STATISTICS
from skbviewer.analysis.words.verdict_reasons import reason
from skbviewer.cli import main
from skbviewer.matching import AMBIGUOUS, Rung
from skbviewer.records import POINTS_ONLY, Capture, Silent, SourceKind
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.session import Session, import_files
from tests.readers import build_retis as retis
from tests.readers.build import ethernet, ipv4, udp, write_pcap

FRAMES = [
    ethernet(ipv4("10.9.0.1", "10.9.0.2", 17, udp(5000, 53, bytes(9 + n)), ip_id=100 + n))
    for n in range(12)
]
STEP_NS = 1_000_000
# A section beyond the columns: its number is in the upper half of the stored data.
VERDICT = {"nft": {"verdict": "accept", "table_name": "t", "chain_name": "c"}}


def events() -> list[object]:
    made: list[object] = [retis.startup()]
    for n, frame in enumerate(FRAMES):
        at = (n + 1) * STEP_NS
        made.append(retis.point(at, retis.START, at, frame))
        made.append(retis.point(at + 400, "udp_rcv", at, frame, type_="kprobe") | VERDICT)
    lost = retis.point(20 * STEP_NS, retis.FREE, STEP_NS, FRAMES[0], drop="NO_SOCKET")
    made.append(lost | VERDICT)
    return made


def import_points(folder: Path) -> Session:
    """A session of the events and a capture."""
    log = retis.write(folder / "retis.data", events())
    begin = retis.MONO_NS + retis.AHEAD_S * 10**9 + 250
    packets = [(begin + (n + 1) * STEP_NS + 50, frame) for n, frame in enumerate(FRAMES)]
    capture = write_pcap(folder / "a.pcap", packets)
    import_files([log, capture], folder / "a.skbv")
    return Session.open(folder / "a.skbv")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return import_points(tmp_path_factory.mktemp("points")).file


def test_path_lists_points_and_refuses_times(saved: Path) -> None:
    with closing(Session(saved)) as session:
        assert session.sources()[0].kind is SourceKind.RETIS
        path = session.paths.path(1)
    [leg] = path.legs
    assert [event.text for event in leg.events] == [
        f"seen at {retis.START}", "seen at udp_rcv", "drop NO_SOCKET",
    ]  # fmt: skip
    assert leg.note == POINTS_ONLY and not leg.calls and not leg.waits
    times = (leg.kernel_ns, leg.busy_ns, leg.wait_ns, leg.unknown_ns, leg.cpu_ns, leg.functions)
    assert times == (None,) * len(times)


def test_the_number_of_the_sections_is_no_data(saved: Path) -> None:
    with closing(sqlite3.connect(saved)) as db:
        kept = db.execute("SELECT max(data) FROM event").fetchone()[0]
        shown = db.execute("SELECT max(data), min(data) FROM events").fetchone()
        drops = db.execute("SELECT reason, place FROM drops").fetchall()
    assert kept >> 32 and shown == (1, 0) and drops == [("NO_SOCKET", None)]
    with closing(Session(saved)) as session:
        numbers = next(session.tables.blocks("events"))["data"].values
        row = session.packets.numbered(1, 1)[0]
    assert sorted(set(numbers.tolist())) == [0, 1]
    assert (row.drop, row.drop_place) == ("NO_SOCKET", "")


def test_hits_that_nobody_counted_are_unknown(saved: Path) -> None:
    with closing(sqlite3.connect(saved)) as db:
        rows = db.execute("SELECT function, hits, missed FROM functions").fetchall()
    assert {name for name, _, _ in rows} == {retis.START, retis.FREE, "udp_rcv"}
    assert {row[1:] for row in rows} == {(None, None)}
    with closing(Session(saved)) as session:
        (block,) = session.tables.blocks("functions", ["hits", "missed"])
    assert [vector.objects() for vector in block.values()] == [[None] * 3] * 2


@pytest.mark.parametrize("words", [("packets",), ("packets", "--kernel-only"), ("stats", "drops")])
def test_a_filter_on_calls_says_that_there_are_none(
    saved: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    command, *rest = words
    named = f'call(kbl.func == "{retis.START}") or not kbl.comm == x or kbl.func != udp_rcv'
    main([command, str(saved), *rest, "--filter", named])
    note = "note: this recording has no calls, so none has kbl.func, kbl.comm\n"
    assert note in capsys.readouterr().err
    main([command, str(saved), *rest, "--filter", "ip && kbl.drop_reason == NO_SOCKET"])
    assert "note: this recording" not in capsys.readouterr().err


def test_no_packet_is_exact_and_the_reason_is_shown(saved: Path) -> None:
    with closing(Session(saved)) as session:
        assert session.info()["matches"] == {
            "exact": 0, "ambiguous": len(FRAMES), "wire_only": 0, "kernel_only": 0,
        }  # fmt: skip
        why = {row.why for row in session.reasons() if row.verdict == "ambiguous"}
        path = session.paths.path(3)
    assert why == {reason(AMBIGUOUS, Rung.BY_POINTS_ONLY)}
    assert [leg.match for leg in path.legs] == ["ambiguous"]  # the right lifetime, and no other
    assert path.legs[0].begin_ns == retis.MONO_NS + 3 * STEP_NS


def test_stored_numbers_are_unknown_not_zero(saved: Path) -> None:
    with closing(sqlite3.connect(saved)) as db:
        rows = db.execute("SELECT DISTINCT gap, functions, busy_ns, unknown_ns, cpu_ns FROM leg")
        assert rows.fetchall() == [(2, -1, -1, -1, -1)]
        assert db.execute("SELECT count(*) FROM wait").fetchone() == (0,)
        assert db.execute("SELECT DISTINCT kernel_ns FROM series").fetchall() == [(-1,)]


@pytest.mark.parametrize("word", ["layers", "functions", "processes"])
def test_statistics_refuse_and_say_why(
    saved: Path, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert word in STATISTICS
    main(["stats", word, str(saved)])
    shown = capsys.readouterr()
    assert f"{len(FRAMES)} legs of logs that have only points" in shown.out + shown.err


def test_drops_are_counted(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "drops", str(saved)]) == 0
    assert "NO_SOCKET" in capsys.readouterr().out


def test_drops_with_other_sections_are_counted_together(tmp_path: Path) -> None:
    log = events()
    for n in range(2, 5):
        at = (n + 1) * STEP_NS
        lost = retis.point(20 * STEP_NS + n, retis.FREE, at, FRAMES[n], drop="NO_SOCKET")
        log.append(lost | {"nft": {"verdict": "accept", "table_name": f"t{n}"}})
    import_files([retis.write(tmp_path / "retis.data", log)], tmp_path / "a.skbv")
    with closing(Session(tmp_path / "a.skbv")) as session:
        scope = session.stats.scope()
        drops = np.flatnonzero(session.columns.array("event", "event") == KblEvent.DROP)
        assert np.unique(session.columns.array("event", "data")[drops]).size == 4
        assert np.unique(scope.of_event("data", drops)).tolist() == [1]
        table = session.stats.table("drops")
        assert [dict(zip(table.keys, row, strict=True))["number"] for row in table.rows] == [4]


def test_a_diagnosis_knows_drops_and_no_times(saved: Path) -> None:
    with closing(Session(saved)) as session:
        made = session.stats.diagnosis()
    assert [one.rule for one in made.findings] == ["drop"]
    assert not made.time.rows
    missing = {one.rule for one in made.judged if not one.judged}
    assert {"slow-packets", "softirq-wait", "late-reader"} <= missing


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A session of a log without a capture."""
    log = retis.write(tmp_path / "retis.data", events())
    import_files([log], tmp_path / "a.skbv")
    return log


def test_packets_of_a_log_without_a_capture(
    alone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(Session(alone.with_name("a.skbv"))) as session:
        assert session.packets.count() == len(FRAMES)
        rows = session.packets.numbered(1, len(FRAMES))
        frames = [session.contents.packet_bytes(row.number) for row in rows]
        assert [source.kind for source in session.sources()] == [
            SourceKind.RETIS, SourceKind.RETIS_PACKETS,
        ]  # fmt: skip
    assert frames == FRAMES
    begin = retis.MONO_NS + retis.AHEAD_S * 10**9 + 250
    assert [row.ts_ns for row in rows] == [begin + (n + 1) * STEP_NS for n in range(len(FRAMES))]
    assert {row.verdict for row in rows} == {"exact"}
    assert {row.reason.partition(",")[0] for row in rows} == {"The bytes come from the kernel log"}
    assert rows[0].reason.endswith(f"{POINTS_ONLY.capitalize()}.")
    assert rows[0].drop == "NO_SOCKET" and rows[0].kernel_ns is None
    assert main(["dump", str(alone)]) == 0
    assert f"** seen at {retis.START}" in capsys.readouterr().out


def test_details_say_where_the_bytes_are_from(alone: Path) -> None:
    with closing(Session(alone.with_name("a.skbv"))) as session:
        frame = session.contents.detail(1)[0]
    assert "[Bytes from the kernel log: no sniffer captured this packet]" in [
        node.text for node in frame.children
    ]


def test_packets_of_a_log_can_be_filtered_and_exported(
    alone: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = str(alone.with_name("a.skbv"))
    assert main(["packets", session, "--json", "--filter", "ip.id == 103"]) == 0
    [row] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert row["number"] == 4
    out = tmp_path / "out.pcapng"
    assert main(["export", session, "--pcapng", str(out)]) == 0
    copied = readers.read(out, Silent())
    assert isinstance(copied, Capture)
    assert copied.packets["ip_id"].tolist() == [100 + n for n in range(len(FRAMES))]


def test_a_capture_takes_the_place_of_the_bytes_in_the_log(saved: Path) -> None:
    with closing(Session(saved)) as session:
        assert [source.kind for source in session.sources()] == [SourceKind.RETIS, SourceKind.PCAP]


def test_info_of_each_source(saved: Path, alone: Path) -> None:
    with closing(Session(saved)) as session:
        log, capture = session.info()["sources"]
    assert (log["kind"], log["clock"], log["points"]) == ("retis", "CLOCK_MONOTONIC", 25)
    assert (capture["kind"], capture["clock"], capture["points"]) == ("pcap", "CLOCK_REALTIME", 0)
    with closing(Session(alone.with_name("a.skbv"))) as session:
        _, own = session.info()["sources"]
    assert (own["kind"], own["clock"], own["points"]) == ("retis-packets", "CLOCK_REALTIME", 0)


def test_session_of_a_log_is_matched_again(alone: Path, tmp_path: Path) -> None:
    import_files([alone.with_name("a.skbv")], tmp_path / "again.skbv")
    with closing(Session(tmp_path / "again.skbv")) as session:
        assert session.packets.count() == len(FRAMES)
        assert session.words() == ("again.skbv",)

# SPDX-License-Identifier: MIT
"""A log of points: listed in the path; stages, durations and exact matches are refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from skbviewer.analysis.stats.statistics import STATISTICS
from skbviewer.analysis.words.verdict_reasons import reason
from skbviewer.cli import main
from skbviewer.matching import AMBIGUOUS, Rung
from skbviewer.records import POINTS_ONLY, SourceKind
from skbviewer.session import Session, import_files
from tests.readers import build_retis as retis
from tests.readers.build import ethernet, ipv4, udp, write_pcap

FRAMES = [
    ethernet(ipv4("10.9.0.1", "10.9.0.2", 17, udp(5000, 53, bytes(9 + n)), ip_id=100 + n))
    for n in range(12)
]
STEP_NS = 1_000_000


def events() -> list[object]:
    made: list[object] = [retis.startup()]
    for n, frame in enumerate(FRAMES):
        at = (n + 1) * STEP_NS
        made.append(retis.point(at, retis.START, at, frame))
        made.append(retis.point(at + 400, "udp_rcv", at, frame, type_="kprobe"))
    made.append(retis.point(20 * STEP_NS, retis.FREE, STEP_NS, FRAMES[0], drop="NO_SOCKET"))
    return made


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("points")
    log = retis.write(folder / "retis.data", events())
    begin = retis.MONO_NS + retis.AHEAD_S * 10**9 + 250
    packets = [(begin + (n + 1) * STEP_NS + 50, frame) for n, frame in enumerate(FRAMES)]
    capture = write_pcap(folder / "a.pcap", packets)
    import_files([log, capture], folder / "a.skbv")
    return folder / "a.skbv"


def test_path_lists_points_and_refuses_times(saved: Path) -> None:
    with closing(Session(saved)) as session:
        assert session.sources()[0].kind is SourceKind.RETIS
        path = session.paths.of(1)
    [leg] = path.legs
    assert [event.text for event in leg.events] == [
        f"seen at {retis.START}", "seen at udp_rcv", "drop NO_SOCKET",
    ]  # fmt: skip
    assert leg.note == POINTS_ONLY and not leg.calls and not leg.waits
    times = (leg.kernel_ns, leg.busy_ns, leg.wait_ns, leg.unknown_ns, leg.cpu_ns, leg.functions)
    assert times == (None,) * len(times)


def test_no_packet_is_exact_and_the_reason_is_shown(saved: Path) -> None:
    with closing(Session(saved)) as session:
        assert session.info()["matches"] == {
            "exact": 0, "ambiguous": len(FRAMES), "wire_only": 0, "kernel_only": 0,
        }  # fmt: skip
        why = {row.why for row in session.reasons() if row.verdict == "ambiguous"}
        path = session.paths.of(3)
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
    assert f"{len(FRAMES)} legs of logs that have points only" in shown.out + shown.err


def test_drops_are_counted(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "drops", str(saved)]) == 0
    assert "NO_SOCKET" in capsys.readouterr().out


def test_a_diagnosis_knows_drops_and_no_times(saved: Path) -> None:
    with closing(Session(saved)) as session:
        made = session.stats.diagnosis()
    assert [one.rule for one in made.findings] == ["drop"]
    assert not made.time.rows
    missing = {one.rule for one in made.judged if not one.judged}
    assert {"slow-packets", "softirq-wait", "late-reader"} <= missing


def test_lifetimes_without_a_capture_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = retis.write(tmp_path / "retis.data", events())
    import_files([log], tmp_path / "a.skbv")
    with closing(Session(tmp_path / "a.skbv")) as session:
        [row] = session.packets.rows(np.array([-1]))
    assert row.saddr == "10.9.0.1" and row.kernel_ns is None
    assert row.reason.endswith(f"{POINTS_ONLY.capitalize()}.")
    assert main(["dump", str(log)]) == 0
    assert f"** seen at {retis.START}" in capsys.readouterr().out

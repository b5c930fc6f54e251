# SPDX-License-Identifier: MIT
"""A retis log made of a recording, whose matches are known: beside the capture, the KBL, both."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from skbviewer.cli import main
from skbviewer.matching import Rung
from skbviewer.records import resource
from skbviewer.session import Session, import_files
from tests.readers import retis_of_recording as retis
from tests.readers.retis_of_recording import Lifetime

SAMPLES = ("handshake", "drops", "nat")
LATER_NS = 7_300_000_000


class Recording(NamedTuple):
    """A sample, and its exact matches by its own kernel log."""

    kbl: Path
    pcap: Path
    session: Path
    lifetimes: list[Lifetime]


def recording(name: str, folder: Path) -> Recording:
    kbl, pcap = (resource(f"samples/{name}/{name}.{suffix}") for suffix in ("kbl", "pcap"))
    session = folder / f"{name}.skbv"
    import_files([kbl, pcap], session)
    return Recording(kbl, pcap, session, retis.exact_lifetimes(session))


@pytest.fixture(scope="module", params=SAMPLES)
def known(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return recording(request.param, tmp_path_factory.mktemp("known"))


def log_of(known: Recording, folder: Path, **options: Any) -> Path:
    made = retis.events(known.kbl, known.pcap, known.lifetimes, **options)
    return retis.write(folder / "retis.data", made)


def imported(folder: Path, *files: Path) -> Path:
    import_files(files, folder / "a.skbv")
    return folder / "a.skbv"


def pairs(session: Path, kind: str) -> dict[int, set[tuple[int, int, int, int]]]:
    """Return (skb, begin, verdict, rung) of the lifetimes in logs of this kind, by packet."""
    found: dict[int, set[tuple[int, int, int, int]]] = defaultdict(set)
    with closing(sqlite3.connect(session)) as db:
        rows = db.execute(
            "SELECT match.packet, series.skb, series.begin_ns, match.verdict, match.rung FROM match"
            " JOIN leg ON leg.id = match.leg JOIN series ON series.id = leg.series"
            " JOIN source ON source.id = series.source WHERE source.kind = ?", (kind,),
        )  # fmt: skip
        for packet, skb, begin, verdict, rung in rows:
            found[packet].add((skb & retis.MASK64, begin, verdict, rung))
    return found


def info(session: Path) -> dict[str, Any]:
    with closing(Session(session)) as opened:
        return opened.info()


def begins(known: Recording, log: Path) -> dict[tuple[int, int], set[int]]:
    """(skb, first point) of each lifetime in the log, and its packets."""
    first: dict[int, tuple[int, int]] = {}
    for line in log.read_text().splitlines()[1:]:
        event = json.loads(line)
        head = event["skb-tracking"]["orig_head"]
        first.setdefault(head, (event["skb-tracking"]["skb"], event["common"]["timestamp"]))
    found: dict[tuple[int, int], set[int]] = defaultdict(set)
    for lifetime in known.lifetimes:
        if retis.head_of(lifetime) in first:
            found[first[retis.head_of(lifetime)]].add(lifetime.packet)
    return found


def test_beside_a_capture_the_right_lifetime_is_a_candidate(
    known: Recording, tmp_path: Path
) -> None:
    log = log_of(known, tmp_path)
    found = pairs(imported(tmp_path, log, known.pcap), "retis")
    right = begins(known, log)
    assert len(right) >= 10
    for key, packets in right.items():
        for packet in packets:
            assert key in {pair[:2] for pair in found[packet]}, packet
    assert {pair[2] for some in found.values() for pair in some} == {1}  # none is exact


def test_beside_the_kernel_log_and_the_capture(known: Recording, tmp_path: Path) -> None:
    log = log_of(known, tmp_path)
    session = imported(tmp_path, known.kbl, log, known.pcap)
    [same] = info(session)["same_host"]
    assert same["one_clock"] and (same["offset_ns"], same["error_ns"]) == (0, 0)
    found, right = pairs(session, "retis"), begins(known, log)
    joined = {p: some for p, some in found.items() if any(pair[2] == 0 for pair in some)}
    for packet, some in joined.items():
        assert {pair[3] for pair in some} == {Rung.BY_ADDRESS}
        assert all(packet in right[pair[:2]] for pair in some), packet
    exact = {packet for packets in right.values() for packet in packets}
    assert joined.keys() >= exact
    assert pairs(session, "kbl") == pairs(known.session, "kbl")  # its own matches do not change


def test_times_are_those_of_the_kernel_log(known: Recording, tmp_path: Path) -> None:
    beside = imported(tmp_path, known.kbl, log_of(known, tmp_path), known.pcap)
    (tmp_path / "alone").mkdir()
    alone = imported(tmp_path / "alone", known.kbl, known.pcap)
    columns = "id, verdict, rung, kernel_ns, busy_ns, functions"
    rows = []
    for session in (alone, beside):
        with closing(sqlite3.connect(session)) as db:
            rows.append(db.execute(f"SELECT {columns} FROM packet ORDER BY id").fetchall())  # noqa: S608
    assert rows[0] == rows[1]


def test_beside_the_kernel_log_without_a_capture(
    known: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = log_of(known, tmp_path)
    session = imported(tmp_path, known.kbl, log)
    own, kernel = pairs(session, "retis"), pairs(session, "kbl")
    assert len(own) == len(begins(known, log))
    of_kernel = {pair[:2] for some in pairs(known.session, "kbl").values() for pair in some}
    assert own.keys() == kernel.keys()
    for packet, some in own.items():
        assert {pair[2:] for pair in some} == {(0, Rung.OF_LOG)}
        assert {pair[3] for pair in kernel[packet]} == {Rung.BY_ADDRESS}
        assert {pair[:2] for pair in kernel[packet]} <= of_kernel
    with closing(Session(session)) as opened:
        rows = opened.packets.numbered(1, len(own))
    assert {row.reason.partition(",")[0] for row in rows} == {"The bytes come from the kernel log"}
    assert all(row.kernel_ns for row in rows)  # those of the other log
    main(["path", "--packet", "1", str(session)])
    shown = capsys.readouterr().out
    assert "retis.data" in shown and ".kbl" in shown and "seen at" in shown


def test_another_clock_is_fitted_and_its_error_shown(known: Recording, tmp_path: Path) -> None:
    log = log_of(known, tmp_path, later_ns=LATER_NS)
    session = imported(tmp_path, known.kbl, log, known.pcap)
    [same] = info(session)["same_host"]
    assert not same["one_clock"] and 0 < same["error_ns"] < 100_000
    assert abs(same["offset_ns"] + LATER_NS) <= same["error_ns"]
    right = begins(known, log)
    for packet, some in pairs(session, "retis").items():
        for pair in some:
            if pair[2] == 0:
                assert packet in right[pair[:2]], packet
    with closing(sqlite3.connect(session)) as db:
        [(error,)] = db.execute(
            "SELECT error_ns FROM timebase JOIN source ON source.id = timebase.source"
            " WHERE source.kind = 'retis'"
        )
    assert error == same["error_ns"]


def test_a_log_of_another_run_is_not_joined(known: Recording, tmp_path: Path) -> None:
    other = recording("ipv6-and-fragments", tmp_path)
    session = imported(tmp_path, other.kbl, log_of(known, tmp_path), other.pcap)
    assert info(session)["same_host"] == []
    assert not any(pair[2] == 0 for some in pairs(session, "retis").values() for pair in some)


def test_a_log_without_bytes_is_not_joined(known: Recording, tmp_path: Path) -> None:
    log = log_of(known, tmp_path, with_bytes=False)
    assert info(imported(tmp_path, known.kbl, log, known.pcap))["same_host"] == []

# SPDX-License-Identifier: MIT
"""skbviewer dataset: each question in each of its formats, as the command prints it."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from skbviewer.cli import main
from skbviewer.dataset import dataset_paths
from skbviewer.dataset.add_task import add_pair
from tests.cli.commands import wait_for_threads
from tests.dataset.recordings import pair

Captured = pytest.CaptureFixture[str]
PACKETS = 16  # of the capture
SELECT = "SELECT host, count(*) AS packets FROM packets GROUP BY host ORDER BY host"


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A dataset with a log and its capture, and with the capture alone; their session ids."""
    made = tmp_path_factory.mktemp("twice") / "dataset"
    dataset_paths.make(made)
    both, alone = add_pair(made, pair("handshake")), add_pair(made, pair("handshake")[1:])
    return made, both.session, alone.session


def _json(captured: Captured, made: Path, question: str, *words: str) -> list[dict[str, Any]]:
    assert main(["dataset", question, str(made), *words, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(captured.readouterr().out)
    return found


def _csv(captured: Captured, made: Path, question: str, *words: str) -> list[dict[str, str]]:
    assert main(["dataset", question, str(made), *words, "--csv"]) == 0
    return list(csv.DictReader(io.StringIO(captured.readouterr().out)))


def _tcp(captured: Captured, made: Path, session: str) -> str:
    """Return SESSION:N of the session's first TCP packet."""
    rows = _json(captured, made, "packets", "--filter", "tcp")
    number = next(row["number"] for row in rows if row["session"] == session)
    return f"{session}:{number}"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("packets", ()),
        ("packets", ("--filter", "tcp")),
        ("stats", ("functions",)),
        ("stats", ("functions", "--filter", "tcp")),
        ("stats", ("layers",)),
        ("hosts", ()),
        ("query", (SELECT,)),
    ],
)
def test_all_formats_have_the_same_rows(
    twice: tuple[Path, str, str], capsys: Captured, question: str, words: tuple[str, ...]
) -> None:
    objects = _json(capsys, twice[0], question, *words)
    texts = [
        {name: "" if value is None else value for name, value in row.items()} for row in objects
    ]
    rows = _csv(capsys, twice[0], question, *words)
    assert [list(row) for row in rows] == [list(row) for row in texts]
    assert len(rows) == len(texts) > 0
    for row, wanted in zip(rows, texts, strict=True):
        for name, value in wanted.items():
            assert isinstance(value, bool | float) or row[name] == str(value)
    assert main(["dataset", question, str(twice[0]), *words]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= len(rows)


def test_a_query_counts_each_host(twice: tuple[Path, str, str], capsys: Captured) -> None:
    rows = _csv(capsys, twice[0], "query", SELECT)
    assert rows == [{"host": h, "packets": str(PACKETS)} for h in ("lab", "unknown")]


def test_a_filter_leaves_fewer_calls(twice: tuple[Path, str, str], capsys: Captured) -> None:
    calls = [
        sum(row["count"] for row in _json(capsys, twice[0], "stats", "functions", *words))
        for words in ((), ("--filter", "arp"))
    ]
    assert 0 < calls[1] < calls[0]


def test_the_other_sighting_of_a_packet(twice: tuple[Path, str, str], capsys: Captured) -> None:
    made, both, alone = twice
    packet = _tcp(capsys, made, both)
    found = _json(capsys, made, "find", "--packet", packet)
    assert (alone, int(packet.partition(":")[2])) in [(r["session"], r["number"]) for r in found]
    rows = _csv(capsys, made, "find", "--packet", packet)
    assert [row["session"] for row in rows] == [row["session"] for row in found]
    assert main(["dataset", "find", str(made), "--packet", packet]) == 0
    assert alone[:8] in capsys.readouterr().out
    assert main(["dataset", "find", str(made), "--packet", "0123456789ab:1"]) == 2
    assert "there is no such packet" in capsys.readouterr().err


def test_the_sessions_of_a_packet_are_opened(
    twice: tuple[Path, str, str], capsys: Captured, tmp_path: Path
) -> None:
    made, both, _ = twice
    packet, out = _tcp(capsys, made, both), tmp_path / "s.skbv"
    assert main(["dataset", "open", str(made), "--packet", packet, "-o", str(out)]) in (0, 1)
    capsys.readouterr()
    assert main(["packets", str(out), "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == PACKETS  # the same file counts once


def test_packets_have_the_ports_of_the_packet_list(
    twice: tuple[Path, str, str], capsys: Captured
) -> None:
    made, both, _ = twice
    found = [row for row in _json(capsys, made, "packets") if row["session"] == both]
    assert main(["packets", *map(str, pair("handshake")), "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    ports = [[(row["sport"], row["dport"]) for row in rows] for rows in (found, listed)]
    assert ports[0] == ports[1] and (None, None) in ports[0] and ports[0][5] != (None, None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--host", "lab", "--range", "2030-01-02,2030-01-01"),
            "the first time is after the second",
        ),
        (("--packet", "f:" + "9" * 5000), "expected SESSION:N"),
    ],
)
def test_what_cannot_be_opened_is_one_line(
    twice: tuple[Path, str, str], capsys: Captured, tmp_path: Path, words: list[str], said: str
) -> None:
    assert main(["dataset", "open", str(twice[0]), *words, "-o", str(tmp_path / "s.skbv")]) == 2
    err = capsys.readouterr().err
    assert said in err and len(err.splitlines()) == 1


def test_ctrl_c_cancels_a_query(twice: tuple[Path, str, str]) -> None:
    endless = "SELECT count(*) FROM range(100000000000) a, range(100000000000) b"
    command = [sys.executable, "-m", "skbviewer", "dataset", "query", str(twice[0]), endless]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for_threads(process.pid, (os.cpu_count() or 1) + 1)  # DuckDB's, and the query's
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (2, "skbviewer: cancelled\n")

# SPDX-License-Identifier: MIT
"""The parts of `make bench` measure a small recording correctly."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from . import load, load_inside, trace_dat
from .generate import Generated, calls_for, generate

PACKETS = 2000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Generated:
    folder = tmp_path_factory.mktemp("load")
    found = generate(folder, PACKETS, calls_for(10 * PACKETS, PACKETS))
    load.run(load.importing(folder / "both.skbv", found.log, found.capture))
    return found


def test_cost_is_that_of_the_program(tmp_path: Path) -> None:
    busy = "n = sum(range(6_000_000)); x = bytearray(150 << 20)"
    found = load.best([sys.executable, "-c", busy], 2)
    assert found.cpu > 0.02
    assert found.wall >= 0.5 * found.cpu
    assert found.peak > 150
    with pytest.raises(SystemExit, match="no such"):
        load.run([sys.executable, "-c", "raise SystemExit('no such thing')"])


def test_a_right_session_is_found_right(made: Generated) -> None:
    session = made.capture.parent / "both.skbv"
    found = load_inside.correctness(session, made.truth)
    assert found["packets"] == PACKETS
    assert found["wrong"] == 0
    assert found["right"] > 0.99 * found["seen by the kernel"]
    total = found["right"] + found["ambiguous"] + found["left out"]
    assert total == found["seen by the kernel"]


def test_wrong_matches_are_seen(made: Generated, tmp_path: Path) -> None:
    session = tmp_path / "wrong.skbv"
    session.write_bytes((made.capture.parent / "both.skbv").read_bytes())
    with closing(sqlite3.connect(session)) as db:
        db.execute("UPDATE match SET packet = packet % 2000 + 1 WHERE packet BETWEEN 100 AND 149")
        db.commit()
    found = load_inside.correctness(session, made.truth)
    assert 40 <= found["wrong"] <= 51


def test_answers_and_stages(made: Generated) -> None:
    session = made.capture.parent / "both.skbv"
    answers = load_inside.answers(session, 3)
    assert all(0 < median <= high for median, high in answers.values())
    stages = load_inside.stages(made.capture, made.log)
    assert set(stages) == set(load.STORED)
    assert load_inside.integrity(session) == "ok"


def test_missed_goals_are_marked() -> None:
    text = load.table([load.Line("a", "1", "2", False), load.Line("b", "1")])
    assert text.splitlines()[0].endswith("MISSED")
    assert "MISSED" not in text.splitlines()[1]
    assert load.ratio("x", 9, 1, 8).good
    assert not load.ratio("x", 9, 1, 10).good
    assert load.ratio("x", 1, 9).good


def test_trace_dat_has_whole_pages(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    events = trace_dat.write_trace(path, 10_000)
    assert events == pytest.approx(10_000, rel=0.05)
    data = path.read_bytes()
    assert data.startswith(b"\x17\x08\x44tracing6\0")
    page = data[-trace_dat.PAGE :]
    assert int.from_bytes(page[8:16], "little") == trace_dat.PER_PAGE * trace_dat.EVENT.itemsize


def test_lines_are_plain_data(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.bench.load", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--scale" in done.stdout
    assert json.loads(json.dumps(load.Line("a", "b")._asdict()))["wanted"] == ""

# SPDX-License-Identifier: MIT
"""Missed hits become LOST records with the time in which they were; what each file counts."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from skbviewer import readers
from skbviewer.records import KernelLog, Silent
from skbviewer.records import kbl_layout as layout
from tests.kmod.recorder import Fake, built, calls, missed
from tests.lab.kbl_check import Kbl, Record, Type, chunks, one, probes, read

ANY = 0xFFFFFFFF
Rows = list[tuple[int, int, int, int]]


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """A module whose probes have missed nothing yet."""
    return Fake(tmp_path / "kbl")


def show_file(path: Path, *words: str) -> str:
    """Return the output of kblrecord -r for the file."""
    command = [str(built() / "kblrecord"), "-r", str(path), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def show(fake: Fake, counts: dict[int | str, int], since: int, until: int) -> None:
    """Let the module show these counts, and time enough to look at them."""
    made = fake.folder / "missed.new"
    made.write_text(missed(counts, since, until))
    made.rename(fake.folder / "missed")
    time.sleep(0.5)


def lost(kbl: Kbl) -> list[Record]:
    return [r for r in kbl.records if r.head["kind"] == layout.KblKind.LOST]


def rows(kbl: Kbl) -> Rows:
    """Function, first and last time and count of each."""
    heads = [record.head for record in lost(kbl)]
    assert all(head["reason"] == layout.KblLost.MISSED for head in heads)
    return [(int(h["func"]), int(h["first_ns"]), int(h["ts"]), int(h["count"])) for h in heads]


def test_each_growth_is_a_record_from_one_look_to_the_next(fake: Fake, tmp_path: Path) -> None:
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    show(fake, {}, 1000, 1010)
    show(fake, {1: 3}, 2000, 2010)
    show(fake, {0: 2, 1: 3, "any": 5}, 3000, 3010)
    show(fake, {0: 2, 1: 4, "any": 5}, 4000, 4010)
    fake.add(0, calls(5))
    assert run.end(signal.SIGINT).returncode == 0
    kbl = read(tmp_path / "a.kbl")
    assert rows(kbl) == [
        (1, 1000, 2010, 3),
        (0, 2000, 3010, 2),
        (ANY, 2000, 3010, 5),
        (1, 3000, 4010, 1),
    ]
    assert {record.cpu for record in lost(kbl)} == {layout.KBL_CPU_RECORDER}
    table = probes(kbl)
    assert [int(table[name]["missed"]) for name in ("ip_rcv", "tcp_v4_rcv")] == [2, 4]
    counters = one(kbl.tables[Type.COUNTERS], layout.KBL_COUNTERS)
    assert counters["missed"] == 11


def test_no_number_is_left_out_of_its_stream(fake: Fake, tmp_path: Path) -> None:
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    for number in range(1, 4):
        show(fake, {0: number}, 1000 * number, 1000 * number + 10)
    run.end(signal.SIGINT)
    found = [c.header for c in chunks((tmp_path / "a.kbl").read_bytes())]
    own = [h for h in found if h["type"] == Type.RECORDS]
    assert [int(h["seq"]) for h in own] == [0, 1, 2]
    assert [int(h["cpu"]) for h in own] == 3 * [layout.KBL_CPU_RECORDER]


def test_counts_are_looked_at_ten_times_a_second(fake: Fake, tmp_path: Path) -> None:
    """Seen by when a change that is shown now has become a record."""
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    took = []
    for number in range(1, 9):
        size = (tmp_path / "a.kbl").read_bytes().count(b"KNCK")
        made = fake.folder / "missed.new"
        made.write_text(missed({0: number}, number, number))
        begin = time.monotonic()
        made.rename(fake.folder / "missed")
        while (tmp_path / "a.kbl").read_bytes().count(b"KNCK") == size:
            time.sleep(0.001)
            assert time.monotonic() < begin + 10
        took.append(time.monotonic() - begin)
    run.end(signal.SIGINT)
    assert np.median(took) < 0.1


def test_what_was_missed_while_the_probes_were_taken_off_counts(fake: Fake, tmp_path: Path) -> None:
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    made = missed({0: 7}, 9000, 9010)
    (fake.folder / "missed").write_text(made)
    run.end(signal.SIGINT)
    assert sum(row[3] for row in rows(read(tmp_path / "a.kbl"))) == 7


def test_a_count_that_went_back_is_still_a_miss(fake: Fake, tmp_path: Path) -> None:
    """The kernel counts without a lock."""
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    show(fake, {0: 9}, 1000, 1010)
    show(fake, {0: 8}, 2000, 2010)
    run.end(signal.SIGINT)
    assert [row[3] for row in rows(read(tmp_path / "a.kbl"))] == [9, 1]


def test_the_second_file_of_a_recording_declares_its_own_alone(fake: Fake, tmp_path: Path) -> None:
    run = fake.start("-w", tmp_path / "a.kbl", "-G", 2).ready()
    show(fake, {0: 4}, 1000, 1010)
    end = time.monotonic() + 60
    while not (tmp_path / "a1.kbl").exists() and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.3)
    show(fake, {0: 9}, 2000, 2010)
    run.end(signal.SIGINT)
    logs = [readers.read(tmp_path / name, Silent()) for name in ("a.kbl", "a1.kbl")]
    for log, count in zip(logs, (4, 5), strict=True):
        assert isinstance(log, KernelLog)
        marks = log.records[np.flatnonzero(log.records["kind"] == layout.KblKind.LOST)]
        assert marks["data"].tolist() == [count]
        assert log.missed == {}


def count(fake: Fake, written: int, lost: int, nested: int) -> None:
    """Let the module have counted this."""
    made = fake.folder / "stats.new"
    made.write_text(f"mono_ns 6000000000\nwritten {written}\nlost {lost}\nnested {nested}\n")
    made.rename(fake.folder / "stats")


def test_a_file_counts_what_was_in_its_own_time(fake: Fake, tmp_path: Path) -> None:
    count(fake, 50, 2, 1)
    fake.add(0, calls(50))
    run = fake.start("-w", tmp_path / "a.kbl", "-G", 2).ready()
    end = time.monotonic() + 60
    while not (tmp_path / "a1.kbl").exists() and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.3)
    fake.add(0, calls(7, 7_000_000_000))
    count(fake, 57, 5, 1)
    run.end(signal.SIGINT)
    kbls = [read(tmp_path / name) for name in ("a.kbl", "a1.kbl")]
    counters = [one(kbl.tables[Type.COUNTERS], layout.KBL_COUNTERS) for kbl in kbls]
    assert [(int(c["lost"]), int(c["nested"])) for c in counters] == [(2, 1), (3, 0)]
    assert [int(c["written"]) for c in counters] == [len(k.records) for k in kbls] == [50, 7]


def test_a_module_that_shows_no_counts_by_function(fake: Fake, tmp_path: Path) -> None:
    (fake.folder / "missed").unlink()
    fake.start("-w", tmp_path / "a.kbl").ready().end(signal.SIGINT)
    kbl = read(tmp_path / "a.kbl")
    assert b"missed_poll_ms" not in kbl.tables[Type.META]
    assert one(kbl.tables[Type.COUNTERS], layout.KBL_COUNTERS)["missed"] == 3


def test_text_shows_what_was_missed(fake: Fake, tmp_path: Path) -> None:
    run = fake.start().ready()
    show(fake, {1: 3, "any": 2}, 6_000_000_000, 6_000_000_700)
    fake.add(0, calls(5))
    run.end(signal.SIGINT)
    lines = [line for line in run.shown.read_text().splitlines() if "!" in line]
    assert len(lines) == 2
    assert re.search(
        r"---! .*! 3 records lost in \d+ ns: missed by the probe, tcp_v4_rcv$", lines[0]
    )
    assert re.search(r"---! .*! 2 records lost in \d+ ns: missed by the probe$", lines[1])
    assert sum("ip_rcv" in line for line in run.shown.read_text().splitlines()) == 3


def test_a_file_shows_what_was_missed(fake: Fake, tmp_path: Path) -> None:
    run = fake.start("-w", tmp_path / "a.kbl").ready()
    show(fake, {1: 3}, 6_000_000_000, 6_000_000_700)
    fake.add(0, calls(5))
    run.end(signal.SIGINT)
    assert "! 3 records lost" in show_file(tmp_path / "a.kbl")
    assert re.search(
        r"^6 records of 2 functions, 3 lost$", show_file(tmp_path / "a.kbl", "--stats"), re.M
    )

# SPDX-License-Identifier: MIT
"""A packet's path as CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from skbviewer.export import write_path_csv
from skbviewer.records import BadInput, Captured

from .paths import NO_LEGS, SKB, SOURCE, captured, of_two_hosts, path


def read(file: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The comment lines and the rows."""
    with file.open(encoding="utf-8", newline="") as lines:
        text = list(lines)
    comments = [line for line in text if line.startswith("#")]
    return comments, list(csv.DictReader(text[len(comments) :]))


def test_each_call_is_a_row(tmp_path: Path) -> None:
    write_path_csv(path(), [SOURCE], tmp_path / "a.csv")
    _, rows = read(tmp_path / "a.csv")
    assert [row["function"] for row in rows] == [c.function for c in path().legs[0].calls]
    first, lost = rows[0], rows[1]
    assert (first["entry_ns"], first["exit_ns"], first["dur_ns"]) == ("1000", "1500", "500")
    assert (first["leg"], first["cpu"], first["context"], first["pid"]) == ("1 rx", "1", "softirq",
                                                                            "7")  # fmt: skip
    assert first["comm"] == 'a,"b" & c'
    assert int(first["skb"], 16) == SKB
    assert (lost["exit_ns"], lost["dur_ns"], lost["self_ns"]) == ("", "", "")
    assert lost["note"] == "no exit recorded"
    assert rows[2]["caller"] == "net<rx>+0x10"


def test_the_head_says_what_it_is_and_where_from(tmp_path: Path) -> None:
    write_path_csv(path(), [SOURCE], tmp_path / "a.csv")
    comments, _ = read(tmp_path / "a.csv")
    text = "".join(comments)
    for part in ("packet 4", "10.0.0.1 -> 10.0.0.2", "1700000000000000123 ns", "1500 bytes",
                 "exact", "900 ns", "1050 +- 20 ns", SOURCE.path, SOURCE.sha256):  # fmt: skip
        assert part in text


def test_the_head_says_where_it_was_captured(tmp_path: Path) -> None:
    whole = captured(Captured("eth0", "in", 1010, 1300, True))
    write_path_csv(whole, [SOURCE], tmp_path / "a.csv")
    line = "#   captured as eth0 received it, between 1010 and 1300 ns\n"
    assert line in read(tmp_path / "a.csv")[0]


def test_a_packet_without_a_path_says_so_by_no_rows(tmp_path: Path) -> None:
    write_path_csv(NO_LEGS, [SOURCE], tmp_path / "a.csv")
    comments, rows = read(tmp_path / "a.csv")
    assert rows == []
    assert "total time in the kernel: 0 ns" in "".join(comments)


def test_candidates_alone_give_no_total(tmp_path: Path) -> None:
    legs = (path().legs[0]._replace(match="ambiguous"),)
    write_path_csv(path()._replace(legs=legs), [SOURCE], tmp_path / "a.csv")
    comments, _ = read(tmp_path / "a.csv")
    assert "total time in the kernel: unknown (only candidates match)" in "".join(comments)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        write_path_csv(path(), [SOURCE], tmp_path / "none" / "a.csv")
    assert caught.value.path == tmp_path / "none" / "a.csv"
    assert "No such file" in caught.value.why


def test_calls_of_several_logs_have_one_clock_beside_their_own(tmp_path: Path) -> None:
    write_path_csv(of_two_hosts(), [SOURCE], tmp_path / "a.csv")
    comments, rows = read(tmp_path / "a.csv")
    got = [row for row in rows if row["leg"] == "2 rx"]
    assert {row["log"] for row in got} == {"right"}
    assert (got[0]["entry_ns"], got[0]["session_ns"]) == ("1000", "5040001000")
    text = "".join(comments)
    assert "leg 1 tx eth0 of left" in text and "leg 2 rx eth0 of right" in text
    assert "session time minus the time of right: 5040000000 +- 300 ns" in text
    assert "wire time on the clock of left: 1050 +- 7 ns" in text
    assert "wire time on the kernel's clock" not in text
    write_path_csv(path(), [SOURCE], tmp_path / "one.csv")
    assert not {"log", "session_ns"} & set(read(tmp_path / "one.csv")[1][0])

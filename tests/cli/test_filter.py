# SPDX-License-Identifier: MIT
"""--filter on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skbviewer.cli import main
from skbviewer.records import resource

SAMPLE = resource("samples/drops")
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    out: Path = tmp_path_factory.mktemp("filter") / "s.skbv"
    inputs = [str(SAMPLE / "drops.pcap"), str(SAMPLE / "drops.kbl")]
    assert main(["import", "-o", str(out), *inputs]) == 0
    return str(out)


def numbers(captured: Captured) -> list[object]:
    return [json.loads(line)["number"] for line in captured.readouterr().out.splitlines()]


def test_only_packets_that_pass_are_listed(file: str, capsys: Captured) -> None:
    text = "icmp && kbl.func == icmp_rcv"
    assert main(["packets", file, "--filter", text, "--json"]) == 0
    assert numbers(capsys) == [3, 4, 13]
    assert main(["packets", file, "--filter", text]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all("ICMP" in line for line in lines[1:])
    assert main(["packets", file, "--filter", text, "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_rows_of_the_kernel_alone(file: str, capsys: Captured) -> None:
    reason = "kbl.drop_reason == QDISC_DROP"
    assert main(["packets", file, "--kernel-only", "--filter", reason, "--json"]) == 0
    assert numbers(capsys) == ["K1", "K2", "K3"]
    assert main(["packets", file, "--kernel-only", "--filter", "tcp", "--json"]) == 0
    assert numbers(capsys) == []


DROPPED = ("--filter", "kbl.drop_reason == QDISC_DROP", "--json")  # K1, K2 and K3


def test_a_diagnosis_selects_rows_of_the_kernel_alone(file: str, capsys: Captured) -> None:
    assert main(["diagnose", file, *DROPPED]) == 0
    made = json.loads(capsys.readouterr().out)
    (drop,) = [one for one in made["findings"] if one["rule"] == "drop"]
    assert (drop["packets"], drop["packet"]) == (3, "K1")
    assert main(["diagnose", file, "--packet", "K2", *DROPPED]) == 0
    assert main(["diagnose", file, "--packet", "3", *DROPPED]) == 2


def test_statistics_select_rows_of_the_kernel_alone(file: str, capsys: Captured) -> None:
    assert main(["stats", file, "drops", *DROPPED]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["reason"], row["count"], row["wire"]) for row in rows] == [("QDISC_DROP", 3, 0)]
    assert main(["stats", file, "paths", "--filter", "frame.number == 3", "--json"]) == 0
    assert sum(row["count"] for row in json.loads(capsys.readouterr().out)) == 1
    assert main(["stats", file, "layers", "--filter", "frame.number == 3", "--json"]) == 0
    assert max(row["count"] for row in json.loads(capsys.readouterr().out)) == 2  # legs
    assert main(["stats", file, "paths", *DROPPED]) == 0
    assert sum(row["count"] for row in json.loads(capsys.readouterr().out)) == 3


@pytest.mark.parametrize("table", ["functions", "syscalls", "counter", "drops", "conversations"])
def test_statistics_say_that_nothing_was_chosen(table: str, file: str, capsys: Captured) -> None:
    """The recording is not blamed for an empty choice."""
    assert main(["stats", file, table, "--filter", "frame.len > 99999"]) == 0
    assert capsys.readouterr().err == "note: nothing was chosen: no packet matches\n"


def test_stacks_have_the_times_of_the_functions(file: str, capsys: Captured) -> None:
    """Both select the same rows, those of the kernel alone, too."""
    assert main(["stats", file, "functions", *DROPPED]) == 0
    own = sum(row["self_ns"] for row in json.loads(capsys.readouterr().out))
    assert main(["export", file, "--folded", "-", *DROPPED[:2]]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == own > 0


def test_an_error_marks_the_place(file: str, capsys: Captured) -> None:
    assert main(["packets", file, "--filter", "tcp && ip.scr == 10.0.0.1"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "skbviewer: --filter: unknown field ip.scr; did you mean ip.src?",
        "tcp && ip.scr == 10.0.0.1",
        "       ^^^^^^",
    ]

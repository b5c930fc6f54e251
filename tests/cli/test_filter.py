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


def test_an_error_marks_the_place(file: str, capsys: Captured) -> None:
    assert main(["packets", file, "--filter", "tcp && ip.scr == 10.0.0.1"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "skbviewer: --filter: unknown field ip.scr; did you mean ip.src?",
        "tcp && ip.scr == 10.0.0.1",
        "       ^^^^^^",
    ]

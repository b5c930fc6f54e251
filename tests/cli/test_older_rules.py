# SPDX-License-Identifier: MIT
"""Commands say when older rules made the verdicts that they show."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from skbviewer.cli import main
from skbviewer.matching import RULES, UNNUMBERED
from skbviewer.records import resource
from tests.session.older import age

SAMPLE = resource("samples/handshake")

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def file(tmp_path: Path, capsys: Captured) -> str:
    """A session of older rules."""
    out = tmp_path / "a session.skbv"
    inputs = [str(SAMPLE / f"handshake.{kind}") for kind in ("pcap", "kbl")]
    assert main(["import", "-o", str(out), *inputs]) == 0
    age(out)
    capsys.readouterr()
    return str(out)


@pytest.mark.parametrize(
    "words",
    [
        ["info", "{}"],
        ["info", "{}", "--json"],
        ["packets", "{}"],
        ["packets", "{}", "--kernel-only", "--json"],
        ["path", "{}", "--packet", "2"],
        ["path", "{}", "--packet", "2", "--xml"],
        ["stats", "layers", "{}"],
        ["export", "{}", "--packet", "2", "--csv", "{}.csv"],
    ],
)
def test_every_command_says_so_once(file: str, words: list[str], capsys: Captured) -> None:
    assert main([word.format(file) for word in words]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"warning: {file}: its verdicts were made by older rules ({UNNUMBERED},")


def test_info_has_the_number(file: str, capsys: Captured) -> None:
    main(["info", file, "--json"])
    assert json.loads(capsys.readouterr().out)["rules"] == UNNUMBERED
    main(["info", file])
    assert f"\nrules         {UNNUMBERED}\n" in capsys.readouterr().out


def test_the_command_that_the_warning_names_matches_it_again(file: str, capsys: Captured) -> None:
    assert main(["info", file]) == 1
    named = shlex.split(capsys.readouterr().err.partition("match it again: ")[2])
    assert named[0] == "skbviewer"
    assert main(named[1:]) == 0
    assert main(["info", file, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "" and json.loads(captured.out)["rules"] == RULES

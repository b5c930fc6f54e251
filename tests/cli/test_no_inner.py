# SPDX-License-Identifier: MIT
"""--no-inner leaves out functions without an skb."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skbviewer.cli.main import main
from tests.analysis.ingest.test_calls_without_skb import LOCK, ROUTE, sending, series_with
from tests.analysis.ingest.test_event_rows import imported


@pytest.fixture
def series(tmp_path: Path) -> str:
    """Return the number of the lifetime in a.skbv that was sent."""
    session = imported(tmp_path, sending(inner=True))
    number = series_with(session, "ip_output")
    session.close()
    return str(number)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


def test_path(tmp_path: Path, series: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("path", str(tmp_path / "a.skbv"), "--series", series)
    assert "[no skb]" in printed(capsys, *words)
    assert "[no skb]" not in printed(capsys, *words, "--no-inner")
    calls = json.loads(printed(capsys, *words, "--json"))["legs"][0]["calls"]
    assert {call["function"] for call in calls if call["inner"]} == {LOCK, ROUTE}


def test_statistics(tmp_path: Path, series: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("stats", str(tmp_path / "a.skbv"), "functions", "--all", "--json")
    shown, hidden = (
        {row["function"] for row in json.loads(printed(capsys, *words, *more))}
        for more in ((), ("--no-inner",))
    )
    assert shown - hidden == {LOCK, ROUTE} and "ip_output" in hidden

# SPDX-License-Identifier: MIT
"""--no-inner leaves out functions without an skb."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skbviewer.analysis.diagnosis import Diagnosis
from skbviewer.analysis.stats import Chosen
from skbviewer.analysis.stats.time_in_kernel_table import TimeTable
from skbviewer.cli.main import main
from skbviewer.session.kernel.session_statistics import Statistics
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


def test_diagnosis(
    tmp_path: Path, series: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[Chosen]()

    def judged(self: Statistics, chosen: Chosen, *_: object) -> Diagnosis:
        asked.append(self.shown(chosen))
        return Diagnosis((), (), TimeTable((), 0))

    monkeypatch.setattr(Statistics, "diagnosis", judged)
    for more in ((), ("--no-inner",)):
        printed(capsys, "diagnose", str(tmp_path / "a.skbv"), *more)
    assert [one.inner for one in asked] == [True, False]


def test_comparison(tmp_path: Path, series: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The session has functions without an skb, and the other one has none."""
    (tmp_path / "b").mkdir()
    imported(tmp_path / "b", sending(inner=False)).close()
    words = ("compare", *(str(tmp_path / name) for name in ("a.skbv", "b/a.skbv")), "--folded", "-")
    assert LOCK in printed(capsys, *words)
    for line in printed(capsys, *words, "--no-inner").splitlines():
        stack, a, b = line.rsplit(" ", 2)
        assert a == b and LOCK not in stack


FORMATS = {
    "folded": ("--folded", "out.folded"),
    "speedscope": ("--speedscope", "out.json"),
    "path": ("--csv", "out.csv", "--packet", "1"),
    "timeline": ("--csv", "out.csv", "--lanes", "cpu"),
    "lines": ("--jsonl", "out.jsonl", "--no-payload"),
    "report": ("--html", "out.html"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_exports(
    tmp_path: Path, series: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A function without an skb is in the file, or not."""
    option, file, *more = FORMATS[name]
    chosen = ("--filter", "") if name in ("folded", "speedscope") else ()
    found = []
    for hidden in ((), ("--no-inner",)):
        out = tmp_path / f"{len(hidden)}-{file}"
        words = ("export", str(tmp_path / "a.skbv"), option, str(out), *more, *chosen, *hidden)
        assert main(list(words)) in (0, 1)  # 1: the capture is no file
        capsys.readouterr()
        text = out.read_bytes()
        if name == "lines":  # the list of probes is that of the log
            text = b"".join(row for row in text.splitlines() if b'"table": "calls"' in row)
        found.append((LOCK.encode() in text, b"ip_output" in text))
    assert found == [(True, True), (False, True)]


def test_dataset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Adding a log again with the other choice replaces its session."""
    (tmp_path / "log").mkdir()
    story = sending(inner=True)
    story.lasting(10**18)
    story.log(tmp_path / "log")
    log = tmp_path / "log" / "story.kbl"
    made = str(tmp_path / "dataset")
    query = ("dataset", "query", made, "SELECT DISTINCT function FROM calls", "--json")
    for hidden, expected in (((), True), (("--no-inner",), False), ((), True)):
        printed(capsys, "dataset", "add", made, str(log), "--jobs", "1", *hidden)
        functions = {row["function"] for row in json.loads(printed(capsys, *query))}
        assert (LOCK in functions) == expected and "ip_output" in functions

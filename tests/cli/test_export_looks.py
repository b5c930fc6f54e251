# SPDX-License-Identifier: MIT
"""Options of `export` that have no effect are refused, and messages are one line of true advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from skbviewer.cli import main

DROPS = str(Path("resources/samples/drops/drops.kbl").absolute())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--folded", "a.folded", "--filter", "udp", "--title", "x"), "--title has no effect"),
        (("--csv", "a.csv", "--packet", "3", "--dpi", "300"), "--dpi has no effect"),
        (("--jsonl", "a.jsonl", "--theme", "dark"), "--theme has no effect"),
        (("--png", "a.png", "--packet", "3", "--title", "x"), "--title has no effect"),
        (("--folded", "a.folded", "--packet", "1,2"), "for several, add --filter ''"),
        (("--png", "a.png", "--packet", "1,2"), "for several, use --lanes"),
    ],
)
def test_what_has_no_effect_is_refused(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", DROPS, *words]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_line_break_in_a_name_stays_in_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a\nb" / "x.jsonl"
    assert main(["export", DROPS, "--jsonl", str(out)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and r"a\nb/x.jsonl: cannot write" in lines[0]

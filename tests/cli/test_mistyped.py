# SPDX-License-Identifier: MIT
"""Words that are neither commands nor files end the program, which would open a window else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skbviewer.cli import main
from skbviewer.gui.window import app

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any, **__: Any) -> int:
        raise AssertionError("a window was opened")

    monkeypatch.setattr(app, "run", run)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pakets", "S.skbv"], "pakets is neither a command nor a file; did you mean packets?"),
        (["foo"], "foo is neither a command nor a file"),
        (["--goto", "3", "foo"], "foo is neither a command nor a file"),
        (["gone.pcap"], "gone.pcap: no such file"),
    ],
)
def test_a_mistyped_word_is_an_error(words: list[str], message: str, capsys: Captured) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err


def test_a_file_behind_one_that_is_there(tmp_path: Path, capsys: Captured) -> None:
    there = tmp_path / "a.pcap"
    there.write_bytes(b"")
    assert main([str(there), "pakets"]) == 2
    assert "pakets: no such file" in capsys.readouterr().err

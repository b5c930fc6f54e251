# SPDX-License-Identifier: MIT
"""Commands that need no Qt work without it, and the others print that it is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skbviewer.records import resource

SAMPLE = resource("samples/handshake")
BLOCKED = """
import sys
for name in ("PySide6", "shiboken6", "pyqtgraph"):
    sys.modules[name] = None
from skbviewer.cli import main
sys.exit(main(sys.argv[1:]))
"""


def run(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED, *words],
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "DISPLAY": ":0"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )


TABLES = [
    ["--csv", "OUT"],
    ["--csv", "OUT", "--filter", "tcp"],
    ["--csv", "OUT", "--lanes", "cpu"],
    ["--csv", "OUT", "--range", "0,0.1", "--markers", "0,0.01"],
]


@pytest.mark.parametrize("words", TABLES)
def test_tables_are_written(tmp_path: Path, words: list[str]) -> None:
    out = str(tmp_path / "out.csv")
    done = run(tmp_path, "export", str(SAMPLE / "handshake.pcap"), *(
        out if word == "OUT" else word for word in words
    ))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert Path(out).read_text().startswith("# ")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["export", "FILE", "--svg", "x.svg"], "an export of the timeline"),
        (["export", "FILE", "--png", "x.png"], "a picture"),
        (["FILE"], "the window"),
    ],
)
def test_what_needs_qt_says_so_in_a_line(tmp_path: Path, words: list[str], what: str) -> None:
    file = str(SAMPLE / "handshake.pcap")
    done = run(tmp_path, *(file if word == "FILE" else word for word in words))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"skbviewer: {what} needs Qt, which cannot be loaded: ")

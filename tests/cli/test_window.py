# SPDX-License-Identifier: MIT
"""The words of the window on the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from skbviewer.cli import main
from skbviewer.gui.window import app
from skbviewer.records import resource

SAMPLE = resource("samples/handshake")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], ((), 0, "")),
        (["a.pcap", "b.kbl"], (("a.pcap", "b.kbl"), 0, "")),
        (["a.pcap", "--goto", "12"], (("a.pcap",), 12, "")),
        (["--goto", "K3", "a.kbl"], (("a.kbl",), -3, "")),
        (["--filter", "tcp.port == 80", "a.pcap"], (("a.pcap",), 0, "tcp.port == 80")),
    ],
)
def test_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], wanted: Any
) -> None:
    asked: list[Any] = []
    monkeypatch.chdir(tmp_path)
    for name in ("a.pcap", "a.kbl", "b.kbl"):
        Path(name).touch()

    def run(paths: Sequence[Path], goto: int, display_filter: str) -> int:
        asked.append((tuple(str(path) for path in paths), goto, display_filter))
        return 0

    monkeypatch.setattr(app, "run", run)
    assert main(words) == 0
    assert asked == [wanted]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--goto", "x"], "not a packet number: x"),
        (["--goto", "0"], "not a packet number: 0"),
        (["--filter", "tcp.prot"], "tcp.prot"),
    ],
)
def test_wrong_words(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 2
    assert message in capsys.readouterr().err


def test_the_window_opens_at_a_packet_behind_a_filter(tmp_path: Path) -> None:
    program = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from skbviewer.cli import main
from skbviewer.gui.window import app

app.application()

def look():
    from skbviewer.gui.window.main_window import MainWindow
    window = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)][0]
    row, query = window.workspace.table.current_row(), window.row_query
    if row is None or window.tasks.busy or query.tasks.busy or not query.filter:
        QTimer.singleShot(100, look)
        return
    print(row.number, window.workspace.table.packets.rowCount())
    QApplication.closeAllWindows()

QTimer.singleShot(100, look)
sys.exit(main(sys.argv[1:]))
"""
    words = [str(SAMPLE / "handshake.pcap"), "--goto", "8", "--filter", "tcp"]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        env=os.environ
        | {
            "XDG_CACHE_HOME": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path),
            "QT_QPA_PLATFORM": "offscreen",
        },
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["8", "10"]

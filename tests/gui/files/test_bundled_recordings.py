# SPDX-License-Identifier: MIT
"""The window on the real recording that comes with the program."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from skbviewer.gui.files import bundled_recordings
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.session import open_files

from ..conftest import show_window


@pytest.fixture
def real(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """The window on real files, its cache in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield from show_window(qtbot, open_files)


def test_it_opens_from_the_welcome_page(real: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(real.tasks.ended, timeout=60_000):
        QTest.mouseClick(real.welcome.bundled_button, Qt.MouseButton.LeftButton)
    assert real.recording is not None
    table = real.workspace.table
    assert table.packets.rowCount() == real.recording.packets.count() > 0
    for position in range(table.packets.rowCount()):
        table.go_to_row(position)
        row, path = real.selection.row, real.selection.path
        assert row is not None and path is not None
        assert sum(leg.functions or 0 for leg in path.legs) == row.functions
        assert len(real.workspace.timeline.item.layout.bars) == row.functions
        assert real.workspace.tree.calls.rowCount() == len(path.legs) + len(path.branches)


def test_a_kbl_alone_shows_every_packet_life(real: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(real.tasks.ended, timeout=60_000):
        real.open_files(bundled_recordings.bundled_files()[:1])
    assert real.recording is not None
    table, count = real.workspace.table, real.recording.packets.kernel_only_count()
    qtbot.waitUntil(lambda: table.packets.rowCount() == count > 0)
    seen = set()
    for position in range(table.packets.rowCount()):
        table.go_to_row(position)
        row, path = real.selection.row, real.selection.path
        assert row is not None and path is not None
        seen.add(row.number)
        assert len(path.legs) > 0
        assert real.workspace.tree.calls.rowCount() == len(path.legs) + len(path.branches)
    assert seen == {f"K{number}" for number in range(1, count + 1)}


def test_capture_then_kbl_join(real: MainWindow, qtbot: QtBot) -> None:
    kbl, capture = bundled_recordings.bundled_files()
    for path in (capture, kbl):
        with qtbot.waitSignal(real.tasks.ended, timeout=60_000):
            real.open_files([path])
        assert real.recording is not None
        matched = real.recording.info()["matches"]["exact"]
        assert (matched > 0) == (path == kbl)
        assert real.banner.isVisible() == (path == capture)


@pytest.mark.parametrize("name", ["missing.pcap", "folder", "empty.kbl", "noise.pcap"])
def test_unusable_files_are_reported_in_one_line(
    real: MainWindow, qtbot: QtBot, tmp_path: Path, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.kbl").touch()
    (tmp_path / "noise.pcap").write_bytes(bytes(range(7, 207)) * 5)
    with qtbot.waitSignal(real.tasks.ended, timeout=60_000):
        real.open_files([tmp_path / name])
    assert real.banner.isVisible()
    assert name in real.banner.text
    assert "\n" not in real.banner.text
    assert real.recording is None


def test_run_shows_the_window_and_ends_clean(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from PySide6.QtCore import QTimer; from PySide6.QtWidgets import QApplication;"
        "from skbviewer.gui.window.app import application, run;"
        "application(); QTimer.singleShot(300, QApplication.closeAllWindows);"
        "sys.exit(run([Path(name) for name in sys.argv[1:]]))"
    )
    folders = {"XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, bundled_recordings.bundled_files())],
        env=os.environ | folders | {"QT_QPA_PLATFORM": "offscreen"},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "propagateSizeHints" not in line]
    assert lines == []


def test_without_a_display_one_line_says_so() -> None:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from skbviewer.gui.window.app import run; sys.exit(run([]))",
        ],
        env={key: value for key, value in os.environ.items() if key not in hidden},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no display" in done.stderr

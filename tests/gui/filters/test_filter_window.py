# SPDX-License-Identifier: MIT
"""Display filters in the window, typed on a real recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from skbviewer.gui.filters.filter_bar import PAUSE_MS
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records import resource
from skbviewer.session import open_files

from ..conftest import show_window

FILES = [resource("samples/drops") / f"drops.{kind}" for kind in ("pcap", "kbl")]
KEY = Qt.Key


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """The window with the recording of drops open."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for window in show_window(qtbot, open_files):
        with qtbot.waitSignal(window.tasks.ended, timeout=60_000):
            window.open_files(FILES)
        yield window


def rows(window: MainWindow) -> int:
    return window.workspace.table.packets.rowCount()


def enter(window: MainWindow, text: str) -> None:
    edit = window.workspace.filter_bar.edit
    QTest.keyClick(window, KEY.Key_Slash, Qt.KeyboardModifier.ControlModifier)
    edit.selectAll()
    QTest.keyClicks(edit, text)
    edit.popup.hide()
    QTest.keyClick(edit, KEY.Key_Return)


def test_a_typed_filter_shortens_the_list(window: MainWindow, qtbot: QtBot) -> None:
    whole = rows(window)
    enter(window, "kbl.drop_reason == NO_SOCKET")
    qtbot.waitUntil(lambda: rows(window) == 3 < whole)  # as resources/samples/drops/README.md has
    window.workspace.filter_bar.clear_action.trigger()
    qtbot.waitUntil(lambda: rows(window) == whole)


def test_function_names_of_the_recording_are_offered(window: MainWindow, qtbot: QtBot) -> None:
    edit = window.workspace.filter_bar.edit
    edit.setFocus()
    QTest.keyClicks(edit, "kbl.func == icmp_r")
    model = edit.popup.model()
    offered = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert "icmp_rcv" in offered
    QTest.keyClick(edit.popup, KEY.Key_Escape)
    enter(window, "kbl.func == icmp_rcv")
    qtbot.waitUntil(lambda: rows(window) == 3)


def test_a_wrong_filter_changes_nothing(window: MainWindow) -> None:
    whole = rows(window)
    enter(window, "kbl.fun == icmp_rcv")
    assert rows(window) == whole
    assert "did you mean kbl.func?" in window.workspace.filter_bar.error.text()


def test_bytes_are_searched_in_the_background(window: MainWindow, qtbot: QtBot) -> None:
    enter(window, 'frame contains 0a:09:00:01 && frame[-1:] matches ".."')
    qtbot.waitUntil(lambda: rows(window) == 0)
    enter(window, "frame contains 0a:09:00:01 && udp")
    qtbot.waitUntil(lambda: rows(window) == 23)


def test_a_letter_in_the_list_offers_fields_and_is_no_error_yet(
    window: MainWindow, qtbot: QtBot
) -> None:
    bar = window.workspace.filter_bar
    QTest.keyClicks(window.workspace.table, "t")
    assert bar.edit.text() == "t"
    assert bar.edit.popup.isVisible()
    words = [bar.edit.popup.model().index(row, 0).data() for row in range(3)]
    assert all(str(word).startswith("t") for word in words)
    qtbot.wait(PAUSE_MS * 2)
    assert not bar.error.isVisible()
    bar.edit.popup.hide()  # as Esc does
    qtbot.waitUntil(bar.error.isVisible, timeout=PAUSE_MS * 5)
    assert "unknown field t" in bar.error.text()

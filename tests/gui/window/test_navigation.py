# SPDX-License-Identifier: MIT
"""Find Packet, Go to Packet, back and forward, along a conversation."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from skbviewer.gui.filters.find_packet import What, Where
from skbviewer.gui.window.main_window import MainWindow

CONTROL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier


def number(window: MainWindow) -> str:
    row = window.workspace.table.current_row()
    return "" if row is None else row.number


def find(
    window: MainWindow, qtbot: QtBot, text: str, what: What, where: Where = Where.LIST
) -> list[str]:
    """Type a search after Ctrl+F; where Enter, Ctrl+N and Ctrl+B lead."""
    bar = window.workspace.find_bar
    QTest.keyClick(window, Qt.Key.Key_F, CONTROL)
    assert bar.line.hasFocus()
    bar.what.setCurrentText(what.value)
    bar.where.setCurrentText(where.value)
    QTest.keyClicks(bar.line, text)
    seen = []
    with qtbot.waitSignal(window.navigation.tasks.ended):
        QTest.keyClick(bar.line, Qt.Key.Key_Return)
    seen.append(number(window))
    for key in (Qt.Key.Key_N, Qt.Key.Key_B):
        with qtbot.waitSignal(window.navigation.tasks.ended):
            QTest.keyClick(window, key, CONTROL)
        seen.append(number(window))
    return seen


def test_find_a_text(opened: MainWindow, qtbot: QtBot) -> None:
    assert find(opened, qtbot, "WHO HAS", What.STRING) == ["7", "11", "7"]


def test_case_matters_if_asked_for(opened: MainWindow, qtbot: QtBot) -> None:
    opened.workspace.find_bar.case.setChecked(True)
    assert find(opened, qtbot, "WHO HAS", What.STRING) == ["1", "1", "1"]
    assert "nothing found" in opened.statusBar().currentMessage()


def test_find_by_a_regular_expression(opened: MainWindow, qtbot: QtBot) -> None:
    assert find(opened, qtbot, "^1[0-9]\\b", What.REGEX) == ["10", "11", "10"]


def test_find_bytes(opened: MainWindow, qtbot: QtBot) -> None:
    assert find(opened, qtbot, "de ad 0c", What.HEX) == ["12", "12", "12"]


def test_find_a_text_in_the_bytes(opened: MainWindow, qtbot: QtBot) -> None:
    assert find(opened, qtbot, "Packet 5", What.STRING, Where.BYTES) == ["5", "50", "5"]


def test_find_by_a_display_filter(opened: MainWindow, qtbot: QtBot) -> None:
    assert find(opened, qtbot, "udp", What.FILTER) == ["5", "9", "5"]


@pytest.mark.parametrize(
    ("text", "what", "message"),
    [
        ("abc", What.HEX, "not pairs of hex digits: abc"),
        ("(", What.REGEX, "not a regular expression"),
        ("tcp.prot", What.FILTER, "tcp.prot"),
    ],
)
def test_an_invalid_search_is_reported(
    opened: MainWindow, qtbot: QtBot, text: str, what: What, message: str
) -> None:
    bar = opened.workspace.find_bar
    QTest.keyClick(opened, Qt.Key.Key_F, CONTROL)
    bar.what.setCurrentText(what.value)
    QTest.keyClicks(bar.line, text)
    QTest.keyClick(bar.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: message in opened.banner.text)
    assert bar.line.hasFocus()
    QTest.keyClick(bar.line, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert opened.banner.text == ""
    assert opened.workspace.table.hasFocus()


def test_go_to_the_nearest_that_is_shown(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with qtbot.waitSignal(opened.row_query.shown):
        opened.use_filter("udp", True)
    monkeypatch.setattr(QInputDialog, "getText", lambda *given, **more: ("32", True))
    QTest.keyClick(opened, Qt.Key.Key_G, CONTROL)
    assert number(opened) == "33"
    assert "nearest" in opened.statusBar().currentMessage()


def test_back_and_forward(opened: MainWindow) -> None:
    for row_id in (10, 20, 30):
        opened.navigation.to_id(row_id)
    seen = []
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Right):
        QTest.keyClick(opened, key, ALT)
        seen.append(number(opened))
    assert seen == ["20", "10", "20"]
    opened.navigation.to_id(40)
    QTest.keyClick(opened, Qt.Key.Key_Right, ALT)
    assert number(opened) == "40"
    QTest.keyClick(opened, Qt.Key.Key_Left, ALT)
    assert number(opened) == "20"


def test_along_a_conversation(opened: MainWindow, qtbot: QtBot) -> None:
    opened.navigation.to_id(3)
    seen = []
    for key in (Qt.Key.Key_Period, Qt.Key.Key_Period, Qt.Key.Key_Comma):
        with qtbot.waitSignal(opened.navigation.tasks.ended):
            QTest.keyClick(opened, key, CONTROL)
        seen.append(number(opened))
    assert seen == ["4", "8", "4"]

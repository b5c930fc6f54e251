# SPDX-License-Identifier: MIT
"""Marks, ignored rows, time references and comments, by keys; undo; kept in the session."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.recording_interface import RowIds
from skbviewer.gui.window.main_window import MainWindow

from ..fake import FakeRecording

ROLE = Qt.ItemDataRole
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier
BLACK, WHITE, GREY = QColor("#000000"), QColor("#ffffff"), QColor("#7f7f7f")


def press(window: MainWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier = CONTROL) -> None:
    QTest.keyClick(window, key, modifiers)


def number(window: MainWindow) -> str:
    row = window.workspace.table.current_row()
    return "" if row is None else row.number


def colours(window: MainWindow, row: int) -> tuple[QColor, QColor]:
    model = window.workspace.table.packets
    index = model.index(row, 2)
    return (
        model.data(index, ROLE.BackgroundRole).color(),
        model.data(index, ROLE.ForegroundRole).color(),
    )


def recording(window: MainWindow) -> FakeRecording:
    assert isinstance(window.recording, FakeRecording)
    return window.recording


def test_a_marked_row_is_black_and_kept(opened: MainWindow) -> None:
    press(opened, Qt.Key.Key_Down)
    press(opened, Qt.Key.Key_M)
    assert colours(opened, 1) == (BLACK, WHITE)
    assert recording(opened).flags("mark").tolist() == [2]
    assert "Marked: 1" in opened.status.text()
    press(opened, Qt.Key.Key_M)
    assert colours(opened, 1)[0] != BLACK
    assert recording(opened).flags("mark").tolist() == []


def test_an_ignored_row_is_no_light_in_the_dark(opened: MainWindow) -> None:
    press(opened, Qt.Key.Key_D)
    assert colours(opened, 0) == (WHITE, GREY)
    opened.workspace.table.packets.set_dark(True)
    ground, ink = colours(opened, 0)
    assert ground.lightness() < 50 and ink == GREY


def test_several_selected_rows_are_marked_at_once_and_undone_at_once(opened: MainWindow) -> None:
    for _ in range(3):
        QTest.keyClick(opened.workspace.table, Qt.Key.Key_Down, SHIFT)
    press(opened, Qt.Key.Key_M)
    assert recording(opened).flags("mark").tolist() == [1, 2, 3, 4]
    assert opened.menus.actions["Undo"].text() == "&Undo Mark, 4 rows"
    press(opened, Qt.Key.Key_Z)
    assert recording(opened).flags("mark").tolist() == []
    assert opened.menus.actions["Undo"].text() == "&Undo"
    press(opened, Qt.Key.Key_Y)
    assert recording(opened).flags("mark").tolist() == [1, 2, 3, 4]


def test_flags_of_very_many_rows_are_kept_by_a_worker_one_step_after_the_other(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skbviewer.gui.packets.row_marks_and_comments.MANY", 10)
    held, put = threading.Event(), recording(opened).set_flags
    threads: set[int] = set()

    def slow(kind: str, rows: RowIds, on: bool = True) -> None:
        if len(rows) > 10:
            assert held.wait(10)
            threads.add(threading.get_ident())
        put(kind, rows, on)

    monkeypatch.setattr(recording(opened), "set_flags", slow)
    every = recording(opened).packets.count()
    press(opened, Qt.Key.Key_M, CONTROL | SHIFT)
    assert opened.statusBar().currentMessage() == f"Mark, {every:,} rows …"
    press(opened, Qt.Key.Key_M)  # waits: then all are marked, so it unmarks the first
    assert "Marked: 0" in opened.status.text() or "Marked" not in opened.status.text()
    held.set()
    qtbot.waitUntil(lambda: f"Marked: {every - 1:,}" in opened.status.text())
    assert threads and threading.get_ident() not in threads
    assert len(recording(opened).flags("mark")) == every - 1
    press(opened, Qt.Key.Key_Z)
    press(opened, Qt.Key.Key_Z)
    press(opened, Qt.Key.Key_Y)
    qtbot.waitUntil(lambda: not opened.notes.tasks.busy)
    assert len(recording(opened).flags("mark")) == every == opened.notes.marked()
    press(opened, Qt.Key.Key_Z)
    qtbot.waitUntil(lambda: not opened.notes.marked())


def test_very_many_flags_that_cannot_be_kept_are_reported_and_not_shown(
    opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skbviewer.gui.packets.row_marks_and_comments.MANY", 10)
    recording(opened).read_only = True
    press(opened, Qt.Key.Key_M, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: opened.banner.isVisible())
    assert "read only" in opened.banner.text
    assert opened.notes.marked() == 0
    assert opened.menus.actions["Undo"].text() == "&Undo"


def test_next_and_previous_mark_go_around(opened: MainWindow) -> None:
    table = opened.workspace.table
    for position in (9, 29):
        table.go_to_row(position)
        press(opened, Qt.Key.Key_M)
    table.go_to_row(0)
    seen = []
    for key in (Qt.Key.Key_N, Qt.Key.Key_N, Qt.Key.Key_N, Qt.Key.Key_B):
        press(opened, key, CONTROL | SHIFT)
        seen.append(number(opened))
    assert seen == ["10", "30", "10", "30"]


def test_all_displayed_are_marked(opened: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(opened.row_query.shown):
        opened.use_filter("udp", True)
    press(opened, Qt.Key.Key_M, CONTROL | SHIFT)
    shown = opened.row_query.rows
    assert shown is not None and 0 < len(shown) < 60
    assert recording(opened).flags("mark").tolist() == shown.tolist()
    press(opened, Qt.Key.Key_M, CONTROL | ALT)
    assert recording(opened).flags("mark").tolist() == []


def test_an_ignored_row_is_white_with_grey_text_and_can_be_hidden(
    opened: MainWindow, qtbot: QtBot
) -> None:
    press(opened, Qt.Key.Key_D)
    assert colours(opened, 0) == (WHITE, GREY)
    assert "Ignored: 1" in opened.status.text()
    with qtbot.waitSignal(opened.row_query.shown):
        opened.menus.actions["Hide Ignored Packets"].trigger()
    assert opened.workspace.table.packets.rowCount() == 59
    press(opened, Qt.Key.Key_D, CONTROL | ALT)
    assert recording(opened).flags("ignore").tolist() == []


def test_times_count_from_a_reference(opened: MainWindow) -> None:
    model = opened.workspace.table.packets
    press(opened, Qt.Key.Key_Down)
    press(opened, Qt.Key.Key_T)
    assert [model.text(row, 1) for row in (0, 1, 2)] == ["0.000000000", "*REF*", "0.001234567"]
    press(opened, Qt.Key.Key_T, CONTROL | ALT)
    assert model.text(1, 1) == "0.001234567"


def test_a_comment_is_written_shown_and_taken_away(
    opened: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["retransmitted\nby the client", ""]
    asked: list[str] = []

    def answer(*arguments: object) -> str:
        asked.append(str(arguments[3]))
        return answers.pop(0)

    monkeypatch.setattr("skbviewer.gui.window.row_actions.ask_text", answer)
    model = opened.workspace.table.packets
    press(opened, Qt.Key.Key_C, CONTROL | ALT)
    [note] = recording(opened).notes.all("comment")
    assert (note.packet, note.text) == (1, "retransmitted\nby the client")
    assert "by the client" in model.data(model.index(0, 6), ROLE.ToolTipRole)
    assert model.data(model.index(0, 0), ROLE.DecorationRole) is not None
    press(opened, Qt.Key.Key_C, CONTROL | ALT)
    assert asked == ["", "retransmitted\nby the client"]
    assert recording(opened).notes.all("comment") == []
    press(opened, Qt.Key.Key_Z)
    assert [n.text for n in recording(opened).notes.all("comment")] == [
        "retransmitted\nby the client"
    ]


def test_a_comment_is_written_by_keys_alone(opened: MainWindow) -> None:
    seen: list[str] = []

    def write() -> None:
        dialog = QApplication.activeModalWidget()
        edit = dialog.findChild(QPlainTextEdit) if dialog is not None else None
        if dialog is None or edit is None or not edit.hasFocus():
            QTimer.singleShot(10, write)  # not open yet
            return
        seen.append(dialog.windowTitle())
        QTest.keyClicks(edit, "one")
        QTest.keyClick(edit, Qt.Key.Key_Return)
        QTest.keyClicks(edit, "two")
        QTest.keyClick(edit, Qt.Key.Key_Tab)
        seen.append("there" if edit.hasFocus() else "left")
        QTest.keyClick(dialog, Qt.Key.Key_Return, CONTROL)

    QTimer.singleShot(0, write)
    press(opened, Qt.Key.Key_C, CONTROL | ALT)
    assert seen == ["Packet Comment", "left"]
    assert [note.text for note in recording(opened).notes.all("comment")] == ["one\ntwo"]


def test_a_session_that_cannot_be_written_says_so_and_shows_no_mark(opened: MainWindow) -> None:
    recording(opened).read_only = True
    press(opened, Qt.Key.Key_M)
    assert "read only" in opened.banner.text
    assert opened.workspace.table.hasFocus()
    assert colours(opened, 0)[0] != BLACK
    assert not opened.notes.stack.canUndo()


def test_another_recording_has_its_own_marks(opened: MainWindow, qtbot: QtBot) -> None:
    press(opened, Qt.Key.Key_M)
    from ..conftest import open_and_wait

    open_and_wait(opened, qtbot, "other.kbl", "other.pcap")
    assert opened.notes.marked() == 0
    press(opened, Qt.Key.Key_Z)
    assert opened.notes.marked() == 0

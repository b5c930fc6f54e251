# SPDX-License-Identifier: MIT
"""Follow Stream: both sides in their colours, in every form, and back to the packets."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from skbviewer.analysis.streams.stream_payload import Piece
from skbviewer.gui.dialogs.follow_stream import GROUNDS, FollowStream
from skbviewer.gui.dialogs.stream_text import Form, side_texts
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.session.packets.followed_stream import Stream

PIECES = (
    Piece(3, 0, b"GET / HTTP/1.1\r\n\r\n"),
    Piece(5, 1, b"HTTP/1.1 200 OK\r\n\r\n\xc3\xa4\x00"),
    Piece(9, 1, b"tail", 7),
)
STREAM = Stream("TCP", "tcp.stream == 4", ("10.0.0.1:4000", "10.0.0.2:80"), PIECES, 11, 0)


@pytest.fixture
def dialog(qtbot: QtBot) -> FollowStream:
    made = FollowStream(STREAM)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    return made


def choose(dialog: FollowStream, form: Form) -> str:
    dialog.form.setCurrentIndex(dialog.form.findData(form))
    return dialog.text.toPlainText()


def test_forms() -> None:
    assert [one.text for one in side_texts(PIECES, Form.ASCII)][:2] == [
        "GET / HTTP/1.1\n\n",
        "HTTP/1.1 200 OK\n\n...",
    ]
    assert next(side_texts(PIECES[1:], Form.UTF8)).text == "HTTP/1.1 200 OK\n\nä\0"
    last = [one.text for one in side_texts(PIECES, Form.HEX)][-1]
    assert "7 bytes missing" in last
    assert "    0000001d  74 61 69 6c" in last and last.endswith("tail\n")
    assert next(side_texts(PIECES, Form.C_ARRAY)).text.startswith(
        "char peer0_0[] = { /* Packet 3 */\n0x47, 0x45, 0x54, 0x20,"
    )


def test_sides_have_colours_and_can_be_chosen(dialog: FollowStream) -> None:
    text = dialog.text.toPlainText()
    assert text.index("GET /") < text.index("200 OK") < text.index("tail")
    cursor = QTextCursor(dialog.text.document())
    grounds = []
    for word in ("GET", "200"):
        cursor.setPosition(text.index(word) + 1)
        grounds.append(cursor.charFormat().background().color().name())
    assert grounds == [GROUNDS[0][0], GROUNDS[1][0]]
    dialog.direction.setCurrentIndex(1)
    assert dialog.text.toPlainText() == "GET / HTTP/1.1\n\n"
    assert dialog.direction.itemText(0) == "Entire conversation (44 bytes)"
    assert "7 bytes are missing from the capture" in dialog.note.text()


def test_a_click_goes_to_the_packet(dialog: FollowStream, qtbot: QtBot) -> None:
    place = dialog.text.cursorRect(QTextCursor(dialog.text.document())).center() + QPoint(20, 0)
    with qtbot.waitSignal(dialog.packet_asked) as asked:
        QTest.mouseClick(
            dialog.text.viewport(),
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
            place,
        )
    assert asked.args == [3]


def test_filter_out(dialog: FollowStream, qtbot: QtBot) -> None:
    with qtbot.waitSignal(dialog.filter_asked) as asked:
        dialog.out.click()
    assert asked.args == ["!(tcp.stream == 4)"]


def test_save(dialog: FollowStream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "said.txt"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(out), ""))
    text = choose(dialog, Form.HEX)
    dialog.save.click()
    assert out.read_text(encoding="utf-8") == text
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "no/x"), ""))
    dialog.save.click()
    assert "cannot write" in dialog.note.text()


def test_nothing_said(qtbot: QtBot) -> None:
    dialog = FollowStream(STREAM._replace(pieces=(), unread=2))
    qtbot.addWidget(dialog)
    assert "have no data" in dialog.note.text() and "2 packets" in dialog.note.text()


def test_from_the_menu(opened: MainWindow, qtbot: QtBot) -> None:
    window = opened
    window.workspace.table.go_to_id(3)
    window.menus.actions["Follow Stream"].trigger()
    qtbot.waitUntil(lambda: bool(window.findChildren(FollowStream)))
    (dialog,) = window.findChildren(FollowStream)
    assert "hello" in dialog.text.toPlainText()
    assert window.workspace.filter_bar.text() == "tcp.stream == 3"
    dialog.close()
    window.use_filter("", True)
    window.workspace.table.go_to_id(4)
    window.menus.actions["Follow Stream"].trigger()
    qtbot.waitUntil(lambda: "Only TCP and UDP" in window.banner.text)

# SPDX-License-Identifier: MIT
"""Test the texts that views show if they are empty or too small."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from skbviewer.gui.files.import_summary import size_text
from skbviewer.gui.packet_panes.call_tree import NO_CALLS, NO_PACKET
from skbviewer.gui.packet_panes.raw_record_view import RawView
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.gui.window.status_label import StatusLabel

KEY = Qt.Key


def enter(window: MainWindow, text: str) -> None:
    edit = window.workspace.filter_bar.edit
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, text) if text else QTest.keyClick(edit, KEY.Key_Delete)
    edit.popup.hide()
    QTest.keyClick(edit, KEY.Key_Return)


def test_a_list_and_a_path_without_rows_say_why(opened: MainWindow, qtbot: QtBot) -> None:
    table, tree = opened.workspace.table, opened.workspace.tree
    assert not table.empty.isVisible() and not tree.empty.isVisible()
    enter(opened, "frame.number == 999")
    qtbot.waitUntil(lambda: table.empty.isVisible())
    assert "match the display filter" in table.empty.text()
    assert tree.empty.isVisible() and tree.empty.text() == NO_PACKET
    enter(opened, "")
    qtbot.waitUntil(lambda: not table.empty.isVisible())
    assert not tree.empty.isVisible()


def test_a_packet_the_kernel_does_not_tell_of(opened: MainWindow, qtbot: QtBot) -> None:
    opened.workspace.table.setFocus()
    QTest.keyClick(opened.workspace.table, KEY.Key_End, Qt.KeyboardModifier.ControlModifier)
    tree = opened.workspace.tree
    assert tree.empty.isVisible() and tree.empty.text() == NO_CALLS
    opened.workspace.docks["raw"].raise_()
    QApplication.processEvents()
    raw = opened.workspace.docks["raw"].widget()
    assert isinstance(raw, RawView)
    qtbot.waitUntil(lambda: raw.bytes.accessibleDescription() == NO_CALLS)


def test_the_status_bar_leaves_out_whole_parts(qtbot: QtBot) -> None:
    label = StatusLabel()
    qtbot.addWidget(label)
    label.show_text("Matched: 30  ·  Lost records: 0  ·  Clock offset: 1.0 s ± 7 µs")
    whole = label.text()
    label.resize(label.sizeHint())
    label.show()
    assert label.text() == whole == label.toolTip()
    label.resize(label.sizeHint().width() - 20, 20)
    assert label.text() == "Matched: 30  ·  Lost records: 0  ·  …"
    label.resize(30, 20)
    assert label.text() == "Matched: 30  ·  …"
    assert label.minimumSizeHint().width() == 0
    label.resize(label.sizeHint())
    assert label.text() == whole


@pytest.mark.parametrize(
    ("size", "text"),
    [(999, "999 B"), (1500, "1.5 KiB"), (76_042_880, "72.5 MiB"), (3 << 30, "3.0 GiB")],
)
def test_sizes_of_files(size: int, text: str) -> None:
    assert size_text(size) == text

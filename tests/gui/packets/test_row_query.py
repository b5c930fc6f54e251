# SPDX-License-Identifier: MIT
"""Filters, sorting, what the status bar says, what a cell filters, copying."""

from __future__ import annotations

import csv
import io

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from skbviewer.gui.window.main_window import MainWindow

from ..fake import FakeRecording

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def recording(window: MainWindow) -> FakeRecording:
    assert isinstance(window.recording, FakeRecording)
    return window.recording


def number(window: MainWindow) -> str:
    row = window.workspace.table.current_row()
    return "" if row is None else row.number


def type_filter(window: MainWindow, qtbot: QtBot, text: str) -> None:
    """Go to the filter bar by its key, type a filter, leave the completion, apply it."""
    bar = window.workspace.filter_bar
    QTest.keyClick(window, Qt.Key.Key_Slash, CONTROL)
    assert bar.edit.hasFocus()
    QTest.keyClick(bar.edit, Qt.Key.Key_A, CONTROL)
    QTest.keyClick(bar.edit, Qt.Key.Key_Delete)
    QTest.keyClicks(bar.edit, text)
    if bar.edit.popup.isVisible():
        QTest.keyClick(bar.edit.popup, Qt.Key.Key_Escape)
    assert bar.text() == text
    with qtbot.waitSignal(window.row_query.shown):
        QTest.keyClick(bar.edit, Qt.Key.Key_Return)


def test_a_typed_filter_lists_what_passes_and_empties_again(
    opened: MainWindow, qtbot: QtBot
) -> None:
    type_filter(opened, qtbot, "udp")
    model = opened.workspace.table.packets
    assert {model.text(row, 4) for row in range(model.rowCount())} == {"UDP"}
    assert opened.status.text() == "Packets: 60  ·  Displayed: 14 (23.3 %)"
    type_filter(opened, qtbot, "")
    assert opened.row_query.rows is None
    assert model.rowCount() == 60


def test_a_letter_typed_in_the_list_begins_a_filter(opened: MainWindow, qtbot: QtBot) -> None:
    asked = len(recording(opened).asked)
    QTest.keyClicks(opened.workspace.table, "u")
    edit = opened.workspace.filter_bar.edit
    assert edit.hasFocus() and edit.text() == "u"
    QTest.keyClicks(edit, "dp")
    assert edit.text() == "udp"
    assert len(recording(opened).asked) == asked


def test_the_selected_packet_stays_or_the_nearest_is_gone_to(
    opened: MainWindow, qtbot: QtBot
) -> None:
    opened.navigation.to_id(5)
    type_filter(opened, qtbot, "udp")
    assert number(opened) == "5"
    assert "Packet 5" in opened.workspace.summary.text()
    type_filter(opened, qtbot, "")
    opened.navigation.to_id(22)
    type_filter(opened, qtbot, "udp")
    assert number(opened) == "21"


def test_a_filter_that_shows_nothing_leaves_nothing_selected(
    opened: MainWindow, qtbot: QtBot
) -> None:
    type_filter(opened, qtbot, "frame.number > 99")
    assert opened.workspace.table.packets.rowCount() == 0
    assert opened.selection.row is None
    assert opened.workspace.summary.text() == ""
    assert "Displayed: 0 (0.0 %)" in opened.status.text()


def test_a_click_on_the_header_sorts_and_a_third_unsorts(opened: MainWindow, qtbot: QtBot) -> None:
    table = opened.workspace.table
    header, model = table.header, table.packets
    x = header.sectionViewportPosition(4) + 10
    seen = []
    for _ in range(3):
        with qtbot.waitSignal(opened.row_query.shown):
            QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 8))
        seen.append([model.text(row, 4) for row in (0, model.rowCount() - 1)])
    assert seen == [["ARP", "UDP"], ["UDP", "ARP"], ["TCP", "TCP"]]
    assert number(opened) == "1"


def test_kernel_only_rows_count_in_the_status_bar(opened: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(opened.row_query.shown):
        opened.menus.actions["Kernel-Only Packets"].trigger()
    wanted = "Packets: 60  ·  Kernel-only: 3  ·  Displayed: 63 (100.0 %)"
    assert opened.status.text() == wanted
    opened.workspace.table.go_to_last()
    assert number(opened) == "K3"
    model = opened.workspace.table.packets
    assert model.text(62, 11) == "NO_SOCKET"
    assert model.text(62, 12) == "named [53]"


def test_lives_without_an_address_are_listed_on_demand(opened: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(opened.row_query.shown):
        opened.menus.actions["Packets Without an Address"].trigger()
    assert opened.menus.actions["Kernel-Only Packets"].isChecked()
    assert opened.workspace.table.packets.rowCount() == 65
    QTest.keyClick(opened, Qt.Key.Key_End, CONTROL)
    QTest.keyClick(opened, Qt.Key.Key_M, CONTROL)
    assert recording(opened).flags("mark").tolist() == [-5]


def submenu(menu: QMenu, title: str) -> QMenu:
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu) and action.text().replace("&", "") == title:
            return inner
    raise AssertionError(title)


def entry(menu: QMenu, text: str) -> QAction:
    return next(a for a in menu.actions() if a.text().replace("&", "") == text)


def context_menu(window: MainWindow, row: int, key: str) -> QMenu:
    """Right click on a cell; the menu that opens."""
    table = window.workspace.table
    place = table.visualRect(table.packets.index(row, table.packets.column_of(key))).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, place, table.viewport().mapToGlobal(place)
    )
    QApplication.sendEvent(table.viewport(), event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


@pytest.mark.parametrize(
    ("row", "key", "wanted"),
    [
        (0, "source", "ip.src == 10.0.0.1"),
        (0, "destination", "ip.dst == 10.0.0.2"),
        (4, "protocol", "udp"),
        (2, "number", "frame.number == 3"),
        (0, "length", "frame.len == 74"),
        (0, "kernel", "kbl.in_kernel == 39000ns"),
        (59, "kernel", "!kbl.in_kernel"),
        (8, "drop", 'kbl.drop_reason == "NO_SOCKET"'),
        (0, "drop", "!kbl.drop_reason"),
        (0, "process", 'call(kbl.comm == "client" && kbl.context == "task")'),
        (0, "match", 'kbl.verdict == "exact"'),
        (1, "time", "frame.time_epoch == 1700000000.002469134"),
    ],
)
def test_a_cell_becomes_a_filter(
    opened: MainWindow, qtbot: QtBot, row: int, key: str, wanted: str
) -> None:
    opened.workspace.table.go_to_row(row)
    menu = context_menu(opened, row, key)
    entry(submenu(menu, "Prepare as Filter"), "Selected").trigger()
    menu.close()
    assert opened.workspace.filter_bar.text() == wanted
    assert opened.row_query.filter == ""


def test_apply_as_filter_joins_what_is_there(opened: MainWindow, qtbot: QtBot) -> None:
    menu = context_menu(opened, 4, "protocol")
    with qtbot.waitSignal(opened.row_query.shown):
        entry(submenu(menu, "Apply as Filter"), "Selected").trigger()
    menu.close()
    assert opened.row_query.filter == "udp"
    menu = context_menu(opened, 0, "source")
    entry(submenu(menu, "Prepare as Filter"), "...and not Selected").trigger()
    menu.close()
    assert opened.workspace.filter_bar.text() == "(udp) && !(ip.src == 10.0.0.1)"


def test_a_conversation_becomes_a_filter(opened: MainWindow, qtbot: QtBot) -> None:
    menu = context_menu(opened, 0, "info")
    with qtbot.waitSignal(opened.row_query.shown):
        entry(submenu(menu, "Conversation Filter"), "TCP").trigger()
    menu.close()
    assert opened.row_query.filter == (
        "(ip.addr == 10.0.0.1 && ip.addr == 10.0.0.2) && (tcp.port == 47312 && tcp.port == 8080)"
    )


def test_cells_and_rows_are_copied(opened: MainWindow) -> None:
    table = opened.workspace.table
    place = table.visualRect(table.packets.index(2, 6)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.keyClick(opened, Qt.Key.Key_C, CONTROL)
    clipboard = QGuiApplication.clipboard()
    assert clipboard.text() == "47312 → 8080 [ACK] Seq=1"
    QTest.keyClick(table, Qt.Key.Key_Down, SHIFT)
    QTest.keyClick(opened, Qt.Key.Key_C, CONTROL | SHIFT)
    rows = list(csv.reader(io.StringIO(clipboard.text())))
    assert rows[0][:3] == ["No.", "Time", "Source"]
    assert [row[0] for row in rows[1:]] == ["3", "4"]
    assert rows[1][6] == "47312 → 8080 [ACK] Seq=1"
    table.header.setSectionHidden(6, True)
    QTest.keyClick(opened, Qt.Key.Key_C, CONTROL | SHIFT)
    assert "Info" not in clipboard.text()


def test_an_empty_list_says_what_brings_the_rows_back(opened: MainWindow, qtbot: QtBot) -> None:
    listing, empty = opened.row_query, opened.workspace.table.empty
    opened.rows.flag_displayed("ignore", True)
    with qtbot.waitSignal(listing.shown):
        opened.toggle_ignored()
    assert "All packets are ignored and hidden" in empty.text()
    with qtbot.waitSignal(listing.shown):
        opened.workspace.filter_bar.apply_text("udp")
    assert "All packets are ignored and hidden" in empty.text()  # clearing the filter would not do
    opened.rows.clear_flag("ignore")
    with qtbot.waitSignal(listing.shown):
        listing.refresh()
    opened.rows.flag_displayed("ignore", True)  # those that are listed: UDP
    with qtbot.waitSignal(listing.shown):
        listing.refresh()
    assert "matches only ignored packets" in empty.text()

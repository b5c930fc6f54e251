# SPDX-License-Identifier: MIT
"""The packet list: columns, colours, paging, moving by mouse and keys."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QIcon
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from skbviewer.gui.main_window import MainWindow
from skbviewer.gui.packet_columns import COLUMNS, MATCH, TIME, TimeFormat
from skbviewer.gui.packet_model import PacketModel
from skbviewer.gui.packet_rows import PAGE, RowPages
from skbviewer.gui.packet_table import PacketTable

from .fake import FakeRecording

ROLE = Qt.ItemDataRole


def shown(model: PacketModel, row: int, role: int = ROLE.DisplayRole) -> list[object]:
    return [model.data(model.index(row, column), role) for column in range(len(COLUMNS))]


def test_model_keeps_qts_rules() -> None:
    model = PacketModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show(FakeRecording(1500), True)
    model.show(None, False)
    assert tester.model() is model


def test_a_row_shows_wiresharks_columns_and_ours() -> None:
    model = PacketModel()
    model.show(FakeRecording(), False)
    assert shown(model, 6) == [
        "7", "0.007407402", "10.0.0.1", "10.0.0.2", "ARP", "74",
        "Who has 10.0.0.2? Tell 10.0.0.1", "39.0 µs", "14", "ambiguous 62 %",
    ]  # fmt: skip
    assert shown(model, 50)[7:] == ["", "", "wire-only"]


def test_time_keeps_every_nanosecond_in_every_format() -> None:
    model = PacketModel()
    model.show(FakeRecording(), False)
    model.set_time_format(TimeFormat.EPOCH)
    assert shown(model, 1)[TIME] == "1700000000.002469134"
    model.set_time_format(TimeFormat.DAY)
    assert str(shown(model, 1)[TIME]).endswith(".002469134")


def test_rows_have_wiresharks_colours_light_and_dark() -> None:
    model = PacketModel()
    model.show(FakeRecording(), False)
    light = model.data(model.index(4, 0), ROLE.BackgroundRole).color()
    assert light == QColor("#daeeff")
    assert model.data(model.index(0, 0), ROLE.BackgroundRole).color() == QColor("#a0a0a0")
    model.set_dark(True)
    assert model.data(model.index(4, 0), ROLE.BackgroundRole).color().lightness() < 80


def test_match_tells_its_reason() -> None:
    model = PacketModel()
    model.show(FakeRecording(), False)
    tip = model.data(model.index(50, MATCH), ROLE.ToolTipRole)
    assert tip == "Wire only: no kernel record has this identity"
    assert isinstance(model.data(model.index(50, MATCH), ROLE.DecorationRole), QIcon)


def test_only_pages_looked_at_are_asked_for() -> None:
    recording = FakeRecording(5_000_000)
    pages = RowPages(recording, True)
    assert pages.count == 5_000_003
    assert pages[4_999_999].number == "5000000"
    assert pages[4_999_998].number == "4999999"
    assert pages[5_000_001].number == "K2"
    assert recording.asked == [(4_999_999 // PAGE * PAGE + 1, PAGE)]


def test_a_click_and_the_arrow_keys_choose_rows(qtbot: QtBot) -> None:
    table = PacketTable()
    qtbot.addWidget(table)
    table.resize(1200, 400)
    with qtbot.waitExposed(table):
        table.show()
    table.show_recording(FakeRecording(), False)
    chosen: list[str] = []
    table.row_chosen.connect(lambda row: chosen.append(row.number))
    place = table.visualRect(table.packets.index(4, 2)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place))
    QTest.keyClick(table, Qt.Key.Key_Down)
    QTest.keyClick(table, Qt.Key.Key_Up)
    QTest.keyClick(table, Qt.Key.Key_PageDown)
    assert chosen[:3] == ["5", "6", "5"]
    assert int(chosen[3]) > 10


def test_wiresharks_keys_move_from_any_pane(opened: MainWindow, qtbot: QtBot) -> None:
    table = opened.workspace.table
    opened.workspace.tree.setFocus()
    control = Qt.KeyboardModifier.ControlModifier
    places = []
    for key, modifier in (
        (Qt.Key.Key_Down, control),
        (Qt.Key.Key_F8, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Up, control),
        (Qt.Key.Key_F7, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_End, control),
        (Qt.Key.Key_Home, control),
    ):
        QTest.keyClick(opened, key, modifier)
        row = table.current_row()
        places.append(row.number if row else "")
    assert places == ["2", "3", "2", "1", "60", "1"]

# SPDX-License-Identifier: MIT
"""The packet list: columns, colours, paging, moving by mouse and keys."""

from __future__ import annotations

import time

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QFontMetrics, QIcon
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from skbviewer.gui.packets.colour_rules import DEFAULTS
from skbviewer.gui.packets.packet_columns import COLUMNS
from skbviewer.gui.packets.packet_model import PacketModel
from skbviewer.gui.packets.packet_rows import PAGE, RowPages
from skbviewer.gui.packets.packet_table import PacketTable
from skbviewer.gui.packets.time_column import Precision, TimeFormat
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records import PacketRow, SourceRow

from ..fake import FakeRecording

ROLE = Qt.ItemDataRole
KEYS = [column.key for column in COLUMNS]
TIME, INFO, DROP, MATCH = (KEYS.index(key) for key in ("time", "info", "drop", "match"))


def shown(model: PacketModel, row: int, role: int = ROLE.DisplayRole) -> list[object]:
    return [model.data(model.index(row, column), role) for column in range(model.columnCount())]


def test_model_keeps_qts_rules() -> None:
    model = PacketModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show(FakeRecording(1500))
    model.show(FakeRecording(1500), np.array([-1, 700, 3, -3]))
    model.set_columns(COLUMNS[:3])
    model.set_time_format(TimeFormat.EPOCH)
    model.show(None)
    assert tester.model() is model


def test_a_row_shows_wiresharks_columns_and_ours() -> None:
    model = PacketModel()
    model.show(FakeRecording())
    assert shown(model, 6) == [
        "7", "0.007407402", "10.0.0.1", "10.0.0.2", "ARP", "74",
        "Who has 10.0.0.2? Tell 10.0.0.1", "39.0 µs", "", "", "14", "", "client [412]",
        "ambiguous 62 %",
    ]  # fmt: skip
    assert shown(model, 50)[7:] == ["", "", "", "", "", "", "wire-only"]
    assert shown(model, 8)[DROP] == "NO_SOCKET"


def test_rows_come_in_any_order() -> None:
    model = PacketModel()
    model.show(FakeRecording(), np.array([50, -2, 1]))
    assert [shown(model, row)[0] for row in range(3)] == ["50", "K2", "1"]
    assert model.position_of(-2) == 1
    assert model.position_of(2) is None
    assert model.nearest(2) == 2
    assert model.nearest(40) == 0
    assert model.nearest(-3) == 1


def test_time_keeps_every_nanosecond_in_every_format() -> None:
    model = PacketModel()
    model.show(FakeRecording(), np.array([2, 5, 9]))
    texts = {}
    for form in TimeFormat:
        model.set_time_format(form)
        texts[form] = str(shown(model, 1)[TIME])
    assert texts[TimeFormat.FIRST] == "0.004938268"
    assert texts[TimeFormat.EPOCH] == "1700000000.006172835"
    assert texts[TimeFormat.PREVIOUS] == "0.001234567"
    assert texts[TimeFormat.PREVIOUS_SHOWN] == "0.003703701"
    assert texts[TimeFormat.UTC_DATE] == "2023-11-14 22:13:20.006172835"
    assert texts[TimeFormat.UTC_DAY] == "22:13:20.006172835"
    assert texts[TimeFormat.DATE].endswith(":20.006172835")
    assert texts[TimeFormat.DAY] == texts[TimeFormat.DATE].split()[1]


def test_precision_cuts_digits() -> None:
    model = PacketModel()
    model.show(FakeRecording())
    texts = []
    for precision in Precision:
        model.set_precision(precision)
        texts.append(shown(model, 5)[TIME])
    assert texts == ["0", "0.0", "0.00", "0.006", "0.006172", "0.006172835"]


def test_times_count_from_the_reference_before() -> None:
    model = PacketModel()
    recording = FakeRecording()
    model.show(recording)
    model.notes.flags = type(model.notes.flags)(60, 3)
    model.notes.flags.put("time_ref", np.array([3]), True)
    model.set_references(np.array([3]), [recording.packet(3).ts_ns or 0])
    assert [shown(model, row)[TIME] for row in (1, 2, 3)] == ["0.001234567", "*REF*", "0.001234567"]


def test_rows_have_wiresharks_colours_light_and_dark() -> None:
    model = PacketModel()
    model.show(FakeRecording())
    model.set_rules(DEFAULTS)
    light = model.data(model.index(4, 0), ROLE.BackgroundRole).color()
    assert light == QColor("#daeeff")
    model.set_dark(True)
    assert model.data(model.index(4, 0), ROLE.BackgroundRole).color().lightness() < 80


def test_match_shows_its_reason() -> None:
    model = PacketModel()
    model.show(FakeRecording())
    tip = model.data(model.index(50, MATCH), ROLE.ToolTipRole)
    assert tip == "Wire only: no kernel record has this identity"
    assert isinstance(model.data(model.index(50, MATCH), ROLE.DecorationRole), QIcon)


def test_only_pages_looked_at_are_asked_for() -> None:
    recording = FakeRecording(5_000_000)
    pages = RowPages(recording, None)
    assert pages.count == 5_000_000
    assert pages[4_999_999].number == "5000000"
    assert pages[4_999_998].number == "4999999"
    first = 4_999_999 // PAGE * PAGE + 1
    assert recording.asked == [(first, 5_000_000 - first + 1)]


def test_ten_million_rows_scroll_at_once(table: PacketTable) -> None:
    recording = FakeRecording(10_000_000)
    began = time.process_time()
    table.show_rows(recording)
    QTest.keyClick(table, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    row = table.current_row()
    assert row is not None and row.number == "10000000"
    assert time.process_time() - began < 1.0
    assert sum(count for _, count in recording.asked) < 8 * PAGE


def test_a_click_and_the_arrow_keys_choose_rows(table: PacketTable) -> None:
    chosen: list[str] = []
    table.row_chosen.connect(lambda row: chosen.append(row.number))
    place = table.visualRect(table.packets.index(4, 2)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place))
    QTest.keyClick(table, Qt.Key.Key_Down)
    QTest.keyClick(table, Qt.Key.Key_Up)
    QTest.keyClick(table, Qt.Key.Key_PageDown)
    assert chosen[:3] == ["5", "6", "5"]
    assert int(chosen[3]) > 10


def test_the_current_row_stays_in_view_when_room_is_taken(table: PacketTable) -> None:
    def is_seen() -> bool:
        row = table.visualRect(table.currentIndex())
        return table.viewport().rect().contains(row.center())

    for at in (40, 2):  # at the end of the view, and further up
        table.go_to_row(at)
        table.resize(1400, 150)
        QApplication.processEvents()
        assert is_seen()
        table.resize(1400, 400)
    table.verticalScrollBar().setValue(30)
    assert not is_seen()
    table.resize(1400, 300)
    assert table.verticalScrollBar().value() == 30  # who looks elsewhere is left there


def test_the_rows_on_the_screen_are_reported(table: PacketTable, qtbot: QtBot) -> None:
    with qtbot.waitSignal(table.visible_changed) as changed:
        table.go_to_last()
    ids = changed.args[0]
    assert ids[-1] == 60
    assert 5 < len(ids) < 30
    assert ids.tolist() == list(range(ids[0], 61))


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


def test_a_jump_of_the_scroll_bar_waits_for_no_rows_and_fills_them_in(
    table: PacketTable, qtbot: QtBot
) -> None:
    recording = FakeRecording(1_000_000)
    table.show_rows(recording)
    table.viewport().repaint()
    asked = len(recording.asked)
    table.verticalScrollBar().setValue(500_000)
    table.viewport().repaint()
    assert len(recording.asked) == asked
    qtbot.waitUntil(lambda: table.packets.loaded(500_005))
    image = table.viewport().grab().toImage()
    height = table.rowHeight(0)
    for row in range(3):
        line = range(row * height + 4, (row + 1) * height - 4)
        assert any(image.pixelColor(x, y).lightness() < 120 for y in line for x in range(5, 60))


class LongAddresses(FakeRecording):
    def packet(self, number: int) -> PacketRow:
        return super().packet(number)._replace(source_text=LONG, destination_text="fe80::1")


LONG = "2001:db8:1111:2222:3333:4444:5555:6666"


def test_addresses_have_the_room_they_need_as_far_as_there_is_some(qtbot: QtBot) -> None:
    for width, whole in ((2400, True), (1366, False)):
        table = PacketTable()
        qtbot.addWidget(table)
        table.resize(width, 500)
        usual = table.columnWidth(table.packets.column_of("source"))
        table.show_rows(LongAddresses())
        source, destination = map(table.packets.column_of, ("source", "destination"))
        scratch = QFontMetrics(table.font()).horizontalAdvance(LONG)
        assert (table.columnWidth(source) > scratch) == whole
        assert usual < table.columnWidth(source) or width // 6 < usual
        assert whole or table.columnWidth(destination) < usual  # Info has the rest
        tip = table.packets.data(table.packets.index(0, source), Qt.ItemDataRole.ToolTipRole)
        assert tip == LONG
        assert [s.width for s in table.columns_state()] == [0] * len(table.columns_state())
        table.header.resizeSection(source, 77)
        table.show_rows(FakeRecording())
        assert table.columnWidth(source) == 77  # chosen: it stays


def test_without_a_kbl_info_has_the_room_of_the_kernels_columns(table: PacketTable) -> None:
    class OnlyCapture(FakeRecording):
        def sources(self) -> tuple[SourceRow, ...]:
            return tuple(source for source in super().sources() if source.kind != "kbl")

    table.show_rows(FakeRecording())
    drop, info = table.columnWidth(DROP), table.columnWidth(INFO)
    table.show_rows(OnlyCapture())
    assert table.columnWidth(DROP) < drop
    assert table.columnWidth(INFO) > info
    table.show_rows(FakeRecording())
    assert (table.columnWidth(DROP), table.columnWidth(INFO)) == (drop, info)


def test_the_number_of_the_last_packet_is_not_cut(table: PacketTable) -> None:
    number = table.packets.column_of("number")
    table.show_rows(FakeRecording())
    assert table.columnWidth(number) < 70
    table.show_rows(FakeRecording(count=12_345_678))
    metrics = QFontMetrics(table.font())
    assert table.columnWidth(number) > metrics.horizontalAdvance("12345678") + 6


def test_an_address_without_room_is_cut_in_the_middle_a_name_at_its_end(
    table: PacketTable,
) -> None:
    source = table.packets.column_of("source")
    table.show_rows(LongAddresses())
    assert table.packets.cells(0)[source].elide is Qt.TextElideMode.ElideMiddle
    table.show_rows(FakeRecording())
    assert table.packets.cells(0)[source].elide is Qt.TextElideMode.ElideRight

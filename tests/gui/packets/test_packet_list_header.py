# SPDX-License-Identifier: MIT
"""The packet list's header: order, columns hidden, moved, added, their widths."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QFontMetrics, QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QStyleOptionHeader
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.sort_header import ARROW, GAP, UNSORTED
from skbviewer.gui.packets import column_state
from skbviewer.gui.packets.column_widths import ADDRESSES
from skbviewer.gui.packets.packet_columns import COLUMNS
from skbviewer.gui.packets.packet_table import PacketTable
from skbviewer.records import PacketRow

from ..fake import FakeRecording

KEYS = [column.key for column in COLUMNS]
INFO, FUNCTIONS, DROP, MATCH = map(KEYS.index, ("info", "functions", "drop", "match"))


def header_point(table: PacketTable, section: int) -> QPoint:
    header = table.header
    x = header.sectionViewportPosition(section) + header.sectionSize(section) // 2
    return QPoint(x, header.height() // 2)


def test_a_click_on_the_header_sorts_up_down_and_not(table: PacketTable) -> None:
    asked: list[object] = []
    table.order_asked.connect(asked.append)
    for _ in range(3):
        place = header_point(table, INFO)
        QTest.mouseClick(table.header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert asked == [("info", False), ("info", True), None]


def test_an_arrow_beside_the_title_shows_the_order(table: PacketTable) -> None:
    keys = [column.key for column in COLUMNS]
    for key, gap in (("length", GAP), ("info", "")):
        at = keys.index(key)
        table.header.setSortIndicator(at, Qt.SortOrder.AscendingOrder)
        assert table.header.isSortIndicatorShown()
        option = QStyleOptionHeader()
        table.header.initStyleOptionForIndex(option, at)
        assert option.sortIndicator != UNSORTED
        assert option.text == COLUMNS[at].title + gap


def test_the_arrow_stays_with_its_column_when_others_come_and_go(table: PacketTable) -> None:
    length = [column.key for column in COLUMNS].index("length")
    table.header.setSortIndicator(length, Qt.SortOrder.DescendingOrder)
    states = table.columns_state()
    table.restore_columns([states[length], *states[:length], *states[length + 1 :]])
    header = table.header
    assert (header.sortIndicatorSection(), header.sortIndicatorOrder()) == (
        0,
        Qt.SortOrder.DescendingOrder,
    )
    assert table.add_field("ip.ttl")
    assert table.packets.columns[header.sortIndicatorSection()].key == "length"


def test_columns_are_hidden_and_shown_from_the_headers_menu(table: PacketTable) -> None:
    menu = table.header.menu_at(MATCH)
    entry(menu, "Hide Column").trigger()
    assert table.header.isSectionHidden(MATCH)
    assert [state.hidden for state in table.columns_state()].count(True) == 2  # Waiting is, too
    entry(table.header.menu_at(0), "Match").trigger()
    assert not table.header.isSectionHidden(MATCH)


def test_the_last_column_cannot_be_hidden(table: PacketTable) -> None:
    for at in range(1, len(COLUMNS)):
        table.header.setSectionHidden(at, True)
    assert not entry(table.header.menu_at(0), "Hide Column").isEnabled()
    assert not entry(table.header.menu_at(0), "No.").isEnabled()


def test_columns_are_dragged_resized_and_kept(table: PacketTable) -> None:
    table.header.moveSection(4, 0)
    table.header.resizeSection(4, 201)
    kept = column_state.write(table.columns_state())
    other = PacketTable()
    other.restore_columns(column_state.read(kept))
    assert other.packets.columns[0].key == "protocol"
    assert other.header.sectionSize(0) == 201
    assert other.columns_state()[0].width == 201
    other.deleteLater()


def test_unusable_columns_in_the_settings_are_left_out() -> None:
    assert column_state.read("{") == column_state.DEFAULT
    read = column_state.read('[["field:no.such", "x", 0, false], ["info", "What", 9, false]]')
    assert read[0] == column_state.ColumnState("info", "What", 9, False)
    assert all(state.hidden for state in read[1:])
    assert len(read) == len(COLUMNS)


def test_any_field_becomes_a_column(table: PacketTable) -> None:
    assert not table.add_field("no.such.field")
    assert table.add_field("ip.ttl")
    at = table.packets.column_of("field:ip.ttl")
    assert at == INFO
    assert table.packets.text(4, at) == "ip.ttl 5"
    assert table.packets.headerData(at, Qt.Orientation.Horizontal) == "ip.ttl"
    entry(table.header.menu_at(at), "Remove Column").trigger()
    assert table.packets.column_of("field:ip.ttl") == -1


def test_info_takes_the_width_that_is_left(table: PacketTable) -> None:
    total = table.header.length()
    assert total == table.viewport().width()
    table.resize(2000, 400)
    assert table.header.length() == table.viewport().width() > total


def test_drop_and_match_leave_to_info_what_few_rows_do_not_need(table: PacketTable) -> None:
    def cut() -> list[str]:
        metrics = QFontMetrics(table.font())
        texts = {(at, str(table.packets.text(r, at))) for r in range(table.packets.rowCount())
                 for at in (DROP, MATCH)}  # fmt: skip
        return [t for at, t in texts if metrics.horizontalAdvance(t) + 8 > sizes(at)]

    sizes = table.header.sectionSize
    assert not cut()
    wide, info, recording = sizes(MATCH), sizes(INFO), FakeRecording()
    table.show_rows(recording, np.array([1, 2, 3]))  # exact, and no drop
    assert sizes(MATCH) < wide and sizes(INFO) > info and not cut()
    table.show_rows(recording, np.array([1, 7, 9]))  # the same recording, another filter
    assert not cut() and table.header.length() == table.viewport().width()
    table.show_rows(FakeRecording(1_000_000))
    assert sizes(MATCH) >= wide


def cut(table: PacketTable, first: int = 0, count: int = 256) -> list[str]:
    """Return cells from row `first` on that are cut off, except Info and long addresses."""
    metrics, keys = QFontMetrics(table.font()), [c.key for c in table.packets.columns]
    rows = range(first, min(first + count, table.packets.rowCount()))
    shown = [at for at in table.shown_columns() if keys[at] not in ("info", *ADDRESSES)]
    texts = {(at, table.packets.text(row, at)) for row in rows for at in shown}
    texts |= {(at, table.packets.columns[at].title) for at in shown}
    return [t for at, t in texts if metrics.horizontalAdvance(t) + 8 > table.columnWidth(at)]


@pytest.mark.parametrize("points", [9, 14])
def test_in_a_narrow_window_info_has_what_others_do_not_need(qtbot: QtBot, points: int) -> None:
    table = PacketTable()
    qtbot.addWidget(table)
    font = table.font()
    font.setPointSize(points)
    table.setFont(font)
    usual = table.header.length() - table.columnWidth(INFO)
    table.resize(1280, 400)
    with qtbot.waitExposed(table):
        table.show()
    table.show_rows(FakeRecording(40))
    assert not cut(table)
    assert table.header.length() - table.columnWidth(INFO) < usual - 60
    least = QFontMetricsF(font).averageCharWidth() * 20
    assert table.columnWidth(INFO) >= round(least)
    table.header.setSortIndicator(FUNCTIONS, Qt.SortOrder.DescendingOrder)
    table.show_rows(FakeRecording(41))  # as the sorted rows come
    title = QFontMetrics(font).horizontalAdvance(table.packets.columns[FUNCTIONS].title)
    assert table.columnWidth(FUNCTIONS) >= title + ARROW


def test_a_drop_far_below_gets_its_room_when_it_is_seen(table: PacketTable, qtbot: QtBot) -> None:
    table.show_rows(LateDrop(2000))
    before = table.columnWidth(DROP)
    assert before < QFontMetrics(table.font()).horizontalAdvance(LateDrop.REASON)
    table.go_to_row(1499)
    qtbot.waitUntil(lambda: table.columnWidth(DROP) > before)
    assert not cut(table, 1490, 20)
    assert table.header.length() == table.viewport().width()


class LateDrop(FakeRecording):
    """Only packet 1500 was dropped."""

    REASON = "NETFILTER_DROP_LATE"

    def packet(self, number: int) -> PacketRow:
        return super().packet(number)._replace(drop=self.REASON if number == 1500 else "")


def entry(menu: QMenu, text: str) -> QAction:
    found = [action for action in menu.actions() if action.text().replace("&", "") == text]
    assert len(found) == 1, text
    return found[0]

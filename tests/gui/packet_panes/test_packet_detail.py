# SPDX-License-Identifier: MIT
"""Headers and bytes of a packet: a line lights its bytes, a byte goes to its line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QFont, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from skbviewer.gui.packet_panes.hex_view import HexView
from skbviewer.gui.packet_panes.packet_detail import MOVED, NO_PACKET, NOT_CAPTURED, PacketDetail
from skbviewer.gui.packets.packet_rows import of_packet, of_series
from skbviewer.gui.packets.selection import Selection
from skbviewer.records import resource
from skbviewer.session import Session, import_files


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    capture = tmp_path / "drops.pcap"
    capture.write_bytes(resource("samples/drops/drops.pcap").read_bytes())
    import_files([capture, resource("samples/drops/drops.kbl")], tmp_path / "s.skbv")
    opened = Session.open(tmp_path / "s.skbv")
    yield opened
    opened.close()


@pytest.fixture
def selection(session: Session) -> Selection:
    made = Selection()
    made.use(session)
    return made


@pytest.fixture
def pane(selection: Selection, qtbot: QtBot) -> PacketDetail:
    made = PacketDetail(selection)
    qtbot.addWidget(made)
    made.resize(600, 500)
    made.show()
    qtbot.waitExposed(made)
    return made


def choose(selection: Selection, session: Session, number: int) -> None:
    selection.choose_row(of_packet(session.packets.numbered(number, 1)[0]))


def line_of(pane: PacketDetail, field: str) -> object:
    found = pane.tree.findItems("", Qt.MatchFlag.MatchContains | Qt.MatchFlag.MatchRecursive)
    return next(item for item in found if (n := pane.tree.node(item)) and n.field == field)


def click(view: HexView, qtbot: QtBot, byte: int) -> None:
    cell, height = view._cell()
    (column, _), _ = view._columns(byte % 16)
    place = QPoint(6 + column * cell + cell // 2, byte // 16 * height + height // 2)
    assert view.byte_at(place) == byte
    QTest.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place
    )


def test_it_says_what_to_do_first(pane: PacketDetail) -> None:
    assert pane.bytes.accessibleDescription() == NO_PACKET


def test_a_line_lights_its_bytes_and_a_byte_goes_to_its_line(
    pane: PacketDetail, selection: Selection, session: Session, qtbot: QtBot
) -> None:
    choose(selection, session, 5)
    line = line_of(pane, "ip.dst")
    pane.tree.setCurrentItem(line)  # type: ignore[call-overload]
    assert list(pane.bytes.lit) == [30, 31, 32, 33]
    click(pane.bytes, qtbot, 26)
    node = pane.tree.node(pane.tree.currentItem())
    assert node is not None and node.field == "ip.src"
    assert list(pane.bytes.lit) == [26, 27, 28, 29]
    click(pane.bytes, qtbot, 22)
    node = pane.tree.node(pane.tree.currentItem())
    assert node is not None and node.field == "ip.ttl"


def test_what_was_open_stays_open(
    pane: PacketDetail, selection: Selection, session: Session
) -> None:
    choose(selection, session, 5)
    tree = pane.tree
    header = tree.topLevelItem(1)
    assert header is not None
    header.setExpanded(True)
    choose(selection, session, 6)
    opened = [item.isExpanded() for n in range(3) if (item := tree.topLevelItem(n))]
    assert opened == [False, True, False]


def test_a_line_makes_a_filter(
    pane: PacketDetail, selection: Selection, session: Session, qtbot: QtBot
) -> None:
    choose(selection, session, 5)
    menu = pane.tree.menu(line_of(pane, "ip.ttl"))  # type: ignore[arg-type]
    assert isinstance(menu, QMenu)
    entries: list[QAction] = menu.actions()
    with qtbot.waitSignal(selection.filter_asked) as asked:
        entries[0].trigger()
    assert asked.args == ["ip.ttl == 64", True]
    with qtbot.waitSignal(selection.filter_asked) as asked:
        entries[1].trigger()
    assert asked.args == ["ip.ttl == 64", False]
    (title,) = [pane.tree.menu(pane.tree.topLevelItem(1))]
    assert title is not None and not title.actions()[0].isEnabled()


def test_every_filter_that_a_line_makes_is_one_and_finds_the_packet(session: Session) -> None:
    for number in range(1, session.packets.count() + 1):
        nodes = list(session.contents.detail(number))
        while nodes:
            node = nodes.pop()
            nodes += node.children
            if node.field:
                rows = session.packets.select(f"{node.field} == {node.value}")
                assert rows is None or number in rows, (node, number)


def test_a_line_that_names_a_packet_goes_there(
    pane: PacketDetail, selection: Selection, session: Session, qtbot: QtBot
) -> None:
    choose(selection, session, 4)
    items = pane.tree.findItems("[Request frame: 3]", Qt.MatchFlag.MatchRecursive)
    asked: list[int] = []
    selection.row_asked.connect(asked.append)
    pane.tree.itemActivated.emit(items[0], 0)
    menu = pane.tree.menu(items[0])
    assert menu is not None
    next(a for a in menu.actions() if a.text() == "&Go to Packet 3").trigger()
    assert asked == [3, 3]


def test_a_byte_belongs_to_its_header_not_to_the_frame(
    pane: PacketDetail, selection: Selection, session: Session, qtbot: QtBot
) -> None:
    choose(selection, session, 5)
    top = pane.tree.topLevelItem(0)
    assert top is not None and top.text(0).startswith("Frame 5: ")
    pane.tree.choose_byte(22)
    node = pane.tree.node(pane.tree.currentItem())
    assert node is not None and node.field == "ip.ttl"


def test_copy(pane: PacketDetail, selection: Selection, session: Session, qtbot: QtBot) -> None:
    choose(selection, session, 5)
    pane.tree.setCurrentItem(line_of(pane, "ip.ttl"))  # type: ignore[call-overload]
    pane.tree.setFocus()
    QTest.keyClick(pane.tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Time to Live: 64"
    QTest.keyClick(pane.bytes, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    data = session.contents.packet_bytes(5)
    assert data is not None
    assert QGuiApplication.clipboard().text().startswith(f"0000  {data[:8].hex(' ')}  ")


def test_without_bytes_it_says_why(
    pane: PacketDetail, selection: Selection, session: Session
) -> None:
    selection.choose_row(of_series(session.packets.kernel_only(1, 1)[0]))
    assert pane.bytes.accessibleDescription() == NOT_CAPTURED
    Path(session.sources()[0].path).unlink()
    choose(selection, session, 1)
    assert pane.bytes.accessibleDescription() == MOVED


def test_bytes_lit_outside_come_into_sight(qtbot: QtBot) -> None:
    view = HexView()
    qtbot.addWidget(view)
    view.resize(500, 120)
    view.show()
    view.show_bytes(bytes(range(256)) * 8)
    view.light(1600, 4)
    first = view.verticalScrollBar().value()
    assert first <= 100 < first + view.verticalScrollBar().pageStep()
    view.light(3000, 1)
    assert not view.lit
    assert len(view.dump().splitlines()) == 128


def test_bytes_are_as_large_as_the_text(pane: PacketDetail, qapp: QApplication) -> None:
    usual = QFont(qapp.font())
    before = pane.bytes.fontMetrics().height()
    larger = QFont(usual)
    larger.setPointSizeF(usual.pointSizeF() * 1.6)
    try:
        qapp.setFont(larger)
        QApplication.processEvents()
        assert pane.bytes.fontMetrics().height() > 1.3 * before
    finally:
        qapp.setFont(usual)

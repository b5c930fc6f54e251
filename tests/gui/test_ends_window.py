# SPDX-License-Identifier: MIT
"""Conversations and endpoints: tabs, order, filters, names, copy."""

from __future__ import annotations

import socket

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QTableView
from pytestqt.qtbot import QtBot

from skbviewer.analysis.filter import parse
from skbviewer.analysis.stats import Conversation, Endpoint
from skbviewer.gui.ends_model import CONVERSATION, ENDPOINT, EndsModel, filter_of
from skbviewer.gui.ends_window import EndsWindow
from skbviewer.gui.host_names import HostNames
from skbviewer.gui.main_window import MainWindow

ONE = Conversation("10.0.0.1", 4000, "10.0.0.2", 80, 5, 500, 3, 300, 2, 200, 10**9, 10**6, 85)
TWO = ONE._replace(address_a="10.0.0.3", bytes=90, kernel_ns=None)


def table(window: EndsWindow) -> QTableView:
    found = window.tabs.currentWidget()
    assert isinstance(found, QTableView)
    return found


def texts(view: QTableView, column: int) -> list[str]:
    model = view.model()
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


@pytest.fixture
def dialog(opened: MainWindow, qtbot: QtBot) -> EndsWindow:
    opened.menus.actions["Conversations"].trigger()
    (found,) = opened.findChildren(EndsWindow)
    qtbot.waitUntil(lambda: found.tabs.count() == 2)
    return found


def test_model_keeps_qts_rules_and_orders() -> None:
    model = EndsModel("TCP", CONVERSATION, 0)
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show([TWO, ONE])
    titles = [column.title for column in model.columns]
    for title, order in (
        ("Bytes", [TWO, ONE]),
        ("Address A", [ONE, TWO]),
        ("Time in kernel", [TWO, ONE]),
    ):
        model.sort(titles.index(title), Qt.SortOrder.AscendingOrder)
        assert [model.row(0), model.row(1)] == order
        model.sort(titles.index(title), Qt.SortOrder.DescendingOrder)
        assert [model.row(1), model.row(0)] == order
    assert [model.text(0, at) for at in range(5)] == ["10.0.0.1", "4000", "10.0.0.2", "80", "5"]
    assert "Port A" not in [column.title for column in EndsModel("IPv4", CONVERSATION, 0).columns]


@pytest.mark.parametrize(
    ("kind", "row", "text"),
    [
        ("TCP", ONE, "ip.addr == 10.0.0.1 && tcp.port == 4000 && "
         "ip.addr == 10.0.0.2 && tcp.port == 80"),
        ("IPv6", ONE._replace(address_a="::1", port_a=None, address_b="::1", port_b=None),
         "ipv6.addr == ::1"),
        ("Ethernet", Endpoint("Broadcast", None, 1, 1, 1, 1, 1, 1),
         "eth.addr == ff:ff:ff:ff:ff:ff"),
        ("UDP", Endpoint("fe80::1", 53, 1, 1, 1, 1, 1, 1),
         "ipv6.addr == fe80::1 && udp.port == 53"),
    ],
)  # fmt: skip
def test_filters(kind: str, row: Conversation | Endpoint, text: str) -> None:
    assert filter_of(kind, row) == text
    assert parse(text) is not None


def test_largest_first_and_a_double_click_filters(
    dialog: EndsWindow, opened: MainWindow, qtbot: QtBot
) -> None:
    view = table(dialog)
    assert dialog.tabs.tabText(0) == "TCP · 2" and dialog.tabs.tabText(1) == "UDP · 0"
    bytes_at = [c.title for c in CONVERSATION].index("Bytes")
    assert texts(view, bytes_at) == ["70,000", "500"]
    place = view.visualRect(view.model().index(1, 0)).center()
    left, plain = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(view.viewport(), left, plain, place)
    with qtbot.waitSignal(dialog.filter_asked) as asked:
        QTest.mouseDClick(view.viewport(), left, plain, place)
    assert asked.args is not None and "tcp.port == 40001" in asked.args[0]
    assert opened.workspace.filter_bar.text() == asked.args[0]


def test_copy_as_csv(dialog: EndsWindow) -> None:
    dialog.copy.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 3 and lines[0].startswith('"Address A","Port A"')
    assert '"70000"' in lines[1]


def test_all_columns_are_seen_at_once(window: MainWindow, qtbot: QtBot) -> None:
    mac = ONE._replace(address_a="2e:39:93:17:7e:f6", address_b="5a:d7:5a:1c:75:9a")
    many = mac._replace(packets=213, bytes=239_970, bytes_ab=236_942, kernel_ns=128_050_000)
    dialog = EndsWindow(
        "Conversations", CONVERSATION, lambda *_: {"Ethernet": [many]}, None, HostNames(), 0, window
    )
    qtbot.waitUntil(lambda: dialog.tabs.count() == 1)
    header = table(dialog).horizontalHeader()
    assert header.length() <= 1210  # of a window of 1260 pixels
    for at in range(header.count()):
        assert header.sectionSize(at) >= header.sectionSizeHint(at)
    dialog.close()


def test_names_are_asked_for_only_when_wanted(
    dialog: EndsWindow, opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def lookup(address: tuple[str, int], flags: int) -> tuple[str, str]:
        asked.append(address[0])
        if address[0] == "10.0.0.1":
            return "client.example", "0"
        raise socket.gaierror

    monkeypatch.setattr(socket, "getnameinfo", lookup)
    assert texts(table(dialog), 0) == ["10.0.0.1", "10.0.0.1"] and not asked
    dialog.resolve.click()
    qtbot.waitUntil(lambda: texts(table(dialog), 0) == ["client.example"] * 2)
    assert texts(table(dialog), 2) == ["10.0.0.2", "10.0.0.2"]
    assert asked.count("10.0.0.1") == 1
    listed = opened.workspace.table.packets
    source, row = listed.column_of("source"), listed.row(0)
    assert row is not None
    qtbot.waitUntil(lambda: listed.text(0, source) == opened.names.name(row.source))
    dialog.resolve.click()
    assert texts(table(dialog), 0) == ["10.0.0.1", "10.0.0.1"]


def test_what_is_no_ip_address_is_never_asked_for() -> None:
    names = HostNames()
    names.switch(True)
    assert names.name("02:00:00:00:00:01") == "02:00:00:00:00:01"
    assert names.name("") == ""
    names.close_tasks()


def test_limited_to_the_filter(opened: MainWindow, qtbot: QtBot) -> None:
    opened.use_filter("tcp", True)
    qtbot.waitUntil(lambda: opened.selection.rows is not None)
    opened.menus.actions["Conversations"].trigger()
    (found,) = opened.findChildren(EndsWindow)
    qtbot.waitUntil(lambda: found.tabs.count() == 2)
    assert found.limit.isChecked() and table(found).model().rowCount() == 1
    found.limit.click()
    qtbot.waitUntil(lambda: found.tabs.count() == 2 and table(found).model().rowCount() == 2)
    found.close()


def test_endpoints(opened: MainWindow, qtbot: QtBot) -> None:
    opened.menus.actions["Endpoints"].trigger()
    (found,) = opened.findChildren(EndsWindow)
    qtbot.waitUntil(lambda: found.tabs.count() == 1)
    head = [str(table(found).model().headerData(n, Qt.Orientation.Horizontal)) for n in range(3)]
    assert head == ["Address", "Packets", "Bytes"]
    assert len(ENDPOINT) == 8
    found.close()

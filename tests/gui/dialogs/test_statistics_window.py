# SPDX-License-Identifier: MIT
"""The statistics window: any table of STATISTICS, its order, filters, names, copy and save."""

from __future__ import annotations

import csv
import socket
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QFileDialog, QTableView
from pytestqt.qtbot import QtBot

from skbviewer.analysis.display_filter import parse
from skbviewer.analysis.stats import STATISTICS, Conversation, Endpoint, Table
from skbviewer.analysis.stats.expert_table import ExpertRow
from skbviewer.cli import main
from skbviewer.gui.base.host_names import HostNames
from skbviewer.gui.base.recording_interface import RowIds
from skbviewer.gui.dialogs.statistics_model import StatisticModel
from skbviewer.gui.dialogs.statistics_window import StatisticsWindow, show_statistic
from skbviewer.gui.packets.selection import Selection
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records import Progress, resource
from skbviewer.session import Session, import_files

MACHINE = ("interrupts", "syscalls", "threads", "locks", "faults", "queues")
LEFT, PLAIN = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
KEYS = ("kind", *Conversation._fields)
ONE = Conversation("10.0.0.1", 4000, "10.0.0.2", 80, 5, 500, 3, 300, 2, 200, 10**9, 10**6, 85)
TWO = ONE._replace(address_a="10.0.0.3", bytes=90, kernel_ns=None)


def table(window: StatisticsWindow) -> QTableView:
    found = window.tabs.currentWidget()
    assert isinstance(found, QTableView)
    return found


def texts(view: QTableView, column: int) -> list[str]:
    model = view.model()
    return [str(model.index(row, column).data()) for row in range(model.rowCount())]


def titles(model: StatisticModel) -> list[str]:
    across = Qt.Orientation.Horizontal
    return [str(model.headerData(n, across)) for n in range(model.columnCount())]


def open_window(opened: MainWindow, qtbot: QtBot, title: str) -> StatisticsWindow:
    opened.menus.actions[title].trigger()
    found = opened.findChildren(StatisticsWindow)[-1]
    qtbot.waitUntil(lambda: found.tabs.count() > 0)
    return found


def to_tab(window: StatisticsWindow, tab: str) -> None:
    names = [model.tab for model in window.models()]
    window.tabs.setCurrentIndex(names.index(tab))


@pytest.fixture
def dialog(opened: MainWindow, qtbot: QtBot) -> StatisticsWindow:
    found = open_window(opened, qtbot, "Conversations")
    to_tab(found, "TCP")
    return found


def test_model_keeps_qts_rules_and_orders() -> None:
    rows = [("TCP", *TWO), ("TCP", *ONE), ("IPv4", *ONE._replace(port_a=None, port_b=None))]
    model = StatisticModel("conversations", Table(KEYS, rows), "TCP")
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for title, first in (("Bytes", "10.0.0.3"), ("Address A", "10.0.0.1")):
        model.sort(titles(model).index(title), Qt.SortOrder.AscendingOrder)
        assert model.text(0, 0) == first
        model.sort(titles(model).index(title), Qt.SortOrder.DescendingOrder)
        assert model.text(1, 0) == first
    for order in Qt.SortOrder:  # what is not known comes last
        model.sort(titles(model).index("Time in kernel (µs)"), order)
        assert [model.text(row, 0) for row in range(2)] == ["10.0.0.1", "10.0.0.3"]
    assert [model.text(0, at) for at in range(5)] == ["10.0.0.1", "4000", "10.0.0.2", "80", "5"]
    without_ports = StatisticModel("conversations", Table(KEYS, rows), "IPv4")
    assert "Port A" not in titles(without_ports) and without_ports.rowCount() == 1


@pytest.mark.parametrize(
    ("statistic", "row", "text"),
    [
        ("conversations", ("TCP", *ONE), "ip.addr == 10.0.0.1 && tcp.port == 4000 && "
         "ip.addr == 10.0.0.2 && tcp.port == 80"),
        ("conversations",
         ("IPv6", *ONE._replace(address_a="::1", port_a=None, address_b="::1", port_b=None)),
         "ipv6.addr == ::1"),
        ("endpoints", ("Ethernet", *Endpoint("Broadcast", None, 1, 1, 1, 1, 1, 1)),
         "eth.addr == ff:ff:ff:ff:ff:ff"),
        ("endpoints", ("UDP", *Endpoint("fe80::1", 53, 1, 1, 1, 1, 1, 1)),
         "ipv6.addr == fe80::1 && udp.port == 53"),
    ],
)  # fmt: skip
def test_filters_of_ends(statistic: str, row: tuple[object, ...], text: str) -> None:
    fields = Conversation._fields if statistic == "conversations" else Endpoint._fields
    model = StatisticModel(statistic, Table(("kind", *fields), [row]), str(row[0]))
    assert model.filter(0) == text
    assert parse(text) is not None


def test_a_double_click_or_enter_filters(
    dialog: StatisticsWindow, opened: MainWindow, qtbot: QtBot
) -> None:
    view = table(dialog)
    names = [dialog.tabs.tabText(at) for at in range(dialog.tabs.count())]
    assert names == ["Ethernet · 0", "IPv4 · 0", "IPv6 · 0", "TCP · 2", "UDP · 0"]
    assert texts(view, 5) == ["70,000", "500"]
    place = view.visualRect(view.model().index(1, 0)).center()
    QTest.mouseClick(view.viewport(), LEFT, PLAIN, place)
    with qtbot.waitSignal(dialog.filter_asked) as asked:
        QTest.mouseDClick(view.viewport(), LEFT, PLAIN, place)
    assert asked.args is not None and "tcp.port == 40001" in asked.args[0]
    assert opened.workspace.filter_bar.text() == asked.args[0]
    view.setFocus()
    view.setCurrentIndex(view.model().index(0, 0))
    with qtbot.waitSignal(dialog.filter_asked) as asked:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert asked.args is not None and "tcp.port == 9" in asked.args[0]


def test_copy_and_save_as_csv(
    dialog: StatisticsWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog.copy.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("kind,address_a,port_a") and lines[1].startswith("TCP,10.0.0.1,9,")
    assert len(lines) == 3 and ",70000," in lines[1]
    out = tmp_path / "x.csv"
    for path, said in ((out, f"Wrote {out}"), (tmp_path / "no" / "x", "cannot write")):
        answer = (str(path), "")
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, answer=answer: answer)
        dialog.save.click()
        assert said in dialog.note.text()
    assert out.read_text().splitlines() == lines


def test_all_columns_are_seen_at_once(window: MainWindow, qtbot: QtBot) -> None:
    mac = ONE._replace(address_a="2e:39:93:17:7e:f6", address_b="5a:d7:5a:1c:75:9a", port_a=None)
    many = mac._replace(packets=213, bytes=239_970, bytes_ab=236_942, kernel_ns=128_050_000)
    row = ("Ethernet", *many._replace(port_b=None))
    dialog = StatisticsWindow(
        "conversations", lambda *_: Table(KEYS, [row]), ("", None), HostNames(), 0, window
    )
    qtbot.waitUntil(lambda: dialog.tabs.count() > 0)
    header = table(dialog).horizontalHeader()
    assert header.length() <= 1230  # of a screen of 1280 pixels
    for at in range(header.count()):
        assert header.sectionSize(at) >= header.sectionSizeHint(at)
    dialog.close()


def test_names_are_asked_for_only_when_wanted(
    dialog: StatisticsWindow, opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
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
    found = open_window(opened, qtbot, "Conversations")
    to_tab(found, "TCP")
    assert found.limit.isChecked() and table(found).model().rowCount() == 1
    model = found.models()[found.tabs.currentIndex()]
    assert found.filter_of(model, 0) == f"(tcp) && {model.filter(0)}"
    found.limit.click()
    qtbot.waitUntil(lambda: found.models()[3].rowCount() == 2)
    found.close()


def test_a_sorted_list_is_no_filter(opened: MainWindow, qtbot: QtBot) -> None:
    opened.row_query.set_order(("protocol", False))
    qtbot.waitUntil(lambda: opened.selection.rows is not None)
    found = open_window(opened, qtbot, "Conversations")
    assert not found.limit.isEnabled()
    found.close()


def test_functions_have_units_warnings_and_tips(opened: MainWindow, qtbot: QtBot) -> None:
    found = open_window(opened, qtbot, "Functions")
    (model,) = found.models()
    assert titles(model)[:6] == ["Function", "Layer", "Count", "Open", "Total (µs)", "Self (µs)"]
    assert "p50 (µs)" in titles(model)
    assert [model.text(0, at) for at in (2, 4)] == ["9", "90.500"]
    model.sort(2, Qt.SortOrder.DescendingOrder)  # as numbers
    assert texts(table(found), 2) == ["1,000", "9"]
    across, tip = Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
    assert str(model.headerData(3, across, tip)).startswith("Calls whose duration is unknown")
    assert found.note.text() == "2 calls lie across lost records."
    assert found.filter_of(model, 0) == 'kbl.func == "tcp_v4_rcv"'
    found.close()


def test_a_row_without_a_filter_says_so(opened: MainWindow, qtbot: QtBot) -> None:
    found = open_window(opened, qtbot, "Layers")
    (model,) = found.models()
    assert found.filter_of(model, 0) == 'kbl.layer == "ip"' and found.filter_of(model, 1) is None
    assert all(not action.isEnabled() for action in found.menu(model, 1).actions())
    view = table(found)
    place = view.visualRect(view.model().index(1, 0)).center()
    QTest.mouseClick(view.viewport(), LEFT, PLAIN, place)
    QTest.mouseDClick(view.viewport(), LEFT, PLAIN, place)
    assert "No display filter" in found.note.text() and opened.workspace.filter_bar.text() == ""
    found.close()


def test_sentences_have_the_width_that_is_left_and_a_tip(window: MainWindow, qtbot: QtBot) -> None:
    row = ExpertRow("warning", "drop", 1, "7", None, "1 packet < 2 packets.")
    made = Table(ExpertRow._fields, [row])
    dialog = StatisticsWindow("expert", lambda *_: made, ("", None), HostNames(), 0, window)
    qtbot.waitUntil(lambda: dialog.tabs.count() > 0)
    (model,) = dialog.models()
    last = model.columnCount() - 1
    assert model.has_sentences(last) and table(dialog).horizontalHeader().stretchLastSection()
    tip = model.data(model.index(0, last), Qt.ItemDataRole.ToolTipRole)
    assert tip == "<qt>1 packet &lt; 2 packets.</qt>"
    assert model.data(model.index(0, 0), Qt.ItemDataRole.ToolTipRole) is None
    dialog.close()


def test_an_empty_table_says_so(opened: MainWindow, qtbot: QtBot) -> None:
    found = open_window(opened, qtbot, "Drops")
    assert table(found).accessibleDescription() == "No drops in this recording."
    assert not found.copy.isEnabled() and not found.save.isEnabled()
    found.close()


def test_counting_can_be_cancelled(window: MainWindow, qtbot: QtBot) -> None:
    def ask(rows: RowIds | None, progress: Progress) -> Table:
        while True:
            progress.report("Counting", 0, 0)

    dialog = StatisticsWindow("drops", ask, ("", None), HostNames(), 0, window)
    dialog.show()
    qtbot.waitUntil(dialog.work_bar.isVisible)
    dialog.work_bar.button.click()
    assert dialog.note.text() == "Cancelled." and not dialog.tasks.busy
    dialog.close()


@pytest.mark.parametrize("name", list(STATISTICS))
def test_the_window_shows_what_the_command_writes(
    name: str,
    window: MainWindow,
    qtbot: QtBot,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each row leads to packets, at least to one, with a filter that the language knows."""
    out = tmp_path_factory.mktemp("statistics") / "drops.skbv"
    sample = resource("samples/drops")
    import_files([sample / "drops.kbl", sample / "drops.pcap"], out)
    missing = name in (*MACHINE, "counter")  # the recording has no such events
    assert main(["stats", str(out), name, "--csv"]) == missing
    written = capsys.readouterr().out.splitlines()
    session = Session.open(out)
    dialog = StatisticsWindow(
        name, lambda rows, p: session.stats.table(name, rows, p), ("", None), HostNames(), 0, window
    )
    qtbot.waitUntil(lambda: dialog.tabs.count() > 0, timeout=20_000)
    shown = []
    for at, model in enumerate(dialog.models()):
        dialog.tabs.setCurrentIndex(at)
        shown += dialog.csv().splitlines()[1:]
        for row in range(model.rowCount()):
            text = model.filter(row)
            if text is not None:
                listed = session.packets.listed(text, kernel_only=True, all_lives=True)
                assert listed is not None and len(listed), text
    assert shown == written[1:] and (shown or missing)
    dialog.close()
    session.close()


def test_packets_and_severities_have_their_own_order(qtbot: QtBot) -> None:
    found = (("note", "161"), ("warning", "K9"), ("critical", "23"), ("note", "K10"))
    rows = [ExpertRow(severity, "rule", 1, packet, None, "text") for severity, packet in found]
    model = StatisticModel("expert", Table(ExpertRow._fields, rows))
    view = QTableView()
    qtbot.addWidget(view)
    view.setModel(model)
    named = {model.key(column): column for column in range(model.columnCount())}
    model.sort(named["packet"])
    assert texts(view, named["packet"]) == ["23", "161", "K9", "K10"]
    view.selectRow(2)
    model.sort(named["severity"])
    assert texts(view, named["severity"]) == ["critical", "warning", "note", "note"]
    (selected,) = view.selectionModel().selectedRows(named["packet"])
    assert selected.data() == "K9"  # as before, in another place


def test_kernel_only_rows_of_the_list_are_counted(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    sample, selection = resource("samples/drops"), Selection()
    import_files([sample / "drops.kbl", sample / "drops.pcap"], tmp_path / "drops.skbv")
    session = Session.open(tmp_path / "drops.skbv")
    selection.use(session)
    text = 'kbl.verdict == "kernel-only"'
    selection.rows = session.packets.select(text, kernel_only=True)
    show_statistic(window, "drops", selection, text, HostNames())
    dialog = window.findChildren(StatisticsWindow)[-1]
    qtbot.waitUntil(lambda: dialog.tabs.count() > 0, timeout=20_000)
    (row,) = csv.DictReader(dialog.csv().splitlines())
    assert (row["reason"], row["count"], row["lost"]) == ("QDISC_DROP", "3", "3")

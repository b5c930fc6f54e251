# SPDX-License-Identifier: MIT
"""The packet list, its notes and files on real recordings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QFileDialog, QInputDialog
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.theme import DROP_COLOURS
from skbviewer.gui.filters.find_packet import Search, What, Where, find_position
from skbviewer.gui.packet_panes.call_columns import CALL_COLUMNS
from skbviewer.gui.packets.colour_rules import Rule
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.gui.window.row_menu import current_filter
from skbviewer.records import Silent
from skbviewer.records.resource_files import resource
from skbviewer.session import import_files, open_files
from tests.analysis.streams.random_tcp_streams import write_streams

from ..conftest import show_window

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def real(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """The window on real files, its cache in a folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield from show_window(qtbot, open_files)


def sample(name: str, *suffixes: str) -> list[Path]:
    return [resource(f"samples/{name}") / f"{name}.{suffix}" for suffix in suffixes]


def open_and_list(window: MainWindow, qtbot: QtBot, paths: list[Path]) -> None:
    with qtbot.waitSignal(window.tasks.ended, timeout=60_000):
        window.open_files(paths)
    qtbot.waitUntil(lambda: window.workspace.table.current_row() is not None)


def number(window: MainWindow) -> str:
    row = window.workspace.table.current_row()
    return "" if row is None else row.number


def column(window: MainWindow, key: str) -> list[str]:
    model = window.workspace.table.packets
    return [model.text(row, model.column_of(key)) for row in range(model.rowCount())]


def test_every_column_sorts_real_rows(real: MainWindow, qtbot: QtBot) -> None:
    open_and_list(real, qtbot, sample("drops", "kbl", "pcap"))
    with qtbot.waitSignal(real.row_query.shown):
        real.menus.actions["Kernel-Only Packets"].trigger()
    table, header = real.workspace.table, real.workspace.table.header
    tester = QAbstractItemModelTester(
        table.packets, QAbstractItemModelTester.FailureReportingMode.Fatal
    )
    count = table.packets.rowCount()
    for key in [each.key for each in table.packets.columns]:
        at = table.packets.column_of(key)
        header.setSectionHidden(at, False)
        table.scrollTo(table.packets.index(0, at))
        seen = []
        for _ in range(2):
            x = header.sectionViewportPosition(at) + header.sectionSize(at) // 2
            with qtbot.waitSignal(real.row_query.shown):
                QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 8))
            seen.append(column(real, key))
        assert len(seen[0]) == len(seen[1]) == count
        assert sorted(seen[0]) == sorted(seen[1])
        if key in ("protocol", "drop", "process", "match", "functions"):
            known = [text for text in seen[0] if text]
            assert known[::-1] != known or len(set(known)) == 1
    assert tester.model() is table.packets


CELLS = ("source", "destination", "protocol", "length", "kernel", "functions", "drop", "process")


@pytest.mark.parametrize("key", [*CELLS, "match", "time", "number"])
def test_the_filter_of_a_cell_shows_its_row(real: MainWindow, qtbot: QtBot, key: str) -> None:
    open_and_list(real, qtbot, sample("drops", "kbl", "pcap"))
    table = real.workspace.table
    for position in (0, 4, 9, 12):
        index = table.packets.index(position, table.packets.column_of(key))
        table.setCurrentIndex(index)
        text, shown = current_filter(real), table.packets.text(position, index.column())
        assert text is not None
        with qtbot.waitSignal(real.row_query.shown):
            real.use_filter(text, True)
        assert number(real) == str(position + 1), text
        found = set(column(real, key))
        if key in ("source", "destination"):  # a MAC address is that of IP packets, too
            assert shown in found and ("." not in shown or found == {shown})
        elif key == "process":
            assert {text.partition(" [")[0] for text in found} == {shown.partition(" [")[0]}
        elif key != "time":
            assert found == {shown}
        with qtbot.waitSignal(real.row_query.shown):
            real.use_filter("", True)


def test_along_a_real_conversation(real: MainWindow, qtbot: QtBot) -> None:
    open_and_list(real, qtbot, sample("handshake", "pcap"))
    real.navigation.to_id(3)
    seen = []
    for key in (Qt.Key.Key_Period, Qt.Key.Key_Period, Qt.Key.Key_Comma):
        with qtbot.waitSignal(real.navigation.tasks.ended):
            QTest.keyClick(real, key, CONTROL)
        seen.append(number(real))
    assert seen == ["4", "5", "4"]


def test_a_field_becomes_a_column_and_sorts(real: MainWindow, qtbot: QtBot) -> None:
    open_and_list(real, qtbot, sample("handshake", "kbl", "pcap"))
    table = real.workspace.table
    assert table.add_field("tcp.seq_raw")
    key = "field:tcp.seq_raw"
    texts = column(real, key)
    assert texts[0] == "" and texts[2].isdigit()
    table.header.setSortIndicator(table.packets.column_of(key), Qt.SortOrder.DescendingOrder)
    qtbot.waitUntil(lambda: column(real, key) != texts)
    known = [int(text) for text in column(real, key) if text]
    assert known == sorted(known, reverse=True)


def test_marks_stay_when_a_capture_has_grown_and_is_reloaded(
    real: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    [whole] = sample("handshake", "pcap")
    capture = tmp_path / "捕获 live.pcap"
    capture.write_bytes(whole.read_bytes()[:-300])
    open_and_list(real, qtbot, [capture])
    before = real.workspace.table.packets.rowCount()
    real.navigation.to_id(3)
    QTest.keyClick(real, Qt.Key.Key_M, CONTROL)
    capture.write_bytes(whole.read_bytes())
    with qtbot.waitSignal(real.row_query.shown, timeout=240_000):
        QTest.keyClick(real, Qt.Key.Key_R, CONTROL)
    qtbot.waitUntil(lambda: number(real) == "3")
    assert real.workspace.table.packets.rowCount() == 16 > before
    assert real.notes.flags.all("mark").tolist() == [3]


def test_a_saved_session_finds_a_moved_capture_and_its_notes(
    real: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [whole] = sample("handshake", "pcap")
    capture, out = tmp_path / "a.pcap", tmp_path / "s.skbv"
    capture.write_bytes(whole.read_bytes())
    open_and_list(real, qtbot, [capture])
    QTest.keyClick(real, Qt.Key.Key_M, CONTROL)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(out), ""))
    with qtbot.waitSignal(real.tasks.ended, timeout=240_000):
        QTest.keyClick(real, Qt.Key.Key_S, CONTROL | SHIFT)
    real.close_recording()
    moved = capture.rename(tmp_path / "b.pcap")
    open_and_list(real, qtbot, [out])
    assert "a.pcap: no longer where it was" in real.banner.text
    assert real.notes.flags.all("mark").tolist() == [1]
    recording = real.recording
    assert recording is not None and recording.contents.packet_bytes(1) is None
    monkeypatch.setattr(
        "skbviewer.gui.files.file_menu.ask_missing", lambda parent, paths: [moved for _ in paths]
    )
    with qtbot.waitSignal(real.tasks.ended, timeout=240_000):
        QTest.mouseClick(real.banner.button, Qt.MouseButton.LeftButton)
    assert recording.contents.packet_bytes(1)


def test_a_wrong_file_for_a_moved_one_is_refused(
    real: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_and_list(real, qtbot, sample("handshake", "pcap"))
    assert real.recording is not None
    real.recording.save_as(tmp_path / "s.skbv", _Silent())
    open_and_list(real, qtbot, [tmp_path / "s.skbv"])
    other = sample("drops", "pcap")[0]
    source = real.recording.sources()[0]
    monkeypatch.setattr("skbviewer.gui.files.file_menu.missing_sources", lambda _: [source])
    monkeypatch.setattr("skbviewer.gui.files.file_menu.ask_missing", lambda *_: [other])
    with qtbot.waitSignal(real.tasks.ended, timeout=240_000):
        real.opening.locate()
    assert "has other contents than handshake.pcap had" in real.banner.text


def test_a_filter_that_cannot_run_is_not_in_force(
    real: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    """The capture is gone, and a filter asks for bytes: rows, filter and colour agree."""
    [whole] = sample("handshake", "pcap")
    capture = tmp_path / "a.pcap"
    capture.write_bytes(whole.read_bytes())
    open_and_list(real, qtbot, [capture])
    bar, table = real.workspace.filter_bar, real.workspace.table
    bar.apply_text("tcp")
    qtbot.waitUntil(lambda: table.packets.rowCount() == 10)
    green = bar.edit.palette().color(QPalette.ColorRole.Base)
    capture.unlink()
    bar.apply_text('frame contains "hello"')
    qtbot.waitUntil(lambda: bar.error.isVisible())
    assert real.row_query.filter == "tcp" and table.packets.rowCount() == 10
    assert bar.edit.palette().color(QPalette.ColorRole.Base) != green
    assert "was not applied" in bar.error.text() and "<code>tcp</code>" in bar.error.text()
    real.row_query.set_order(("frame.len", True))  # what is in force goes on to be
    qtbot.waitUntil(lambda: not real.row_query.tasks.busy)
    assert table.packets.rowCount() == 10
    bar.edit.setFocus()
    QTest.keyClick(bar, Qt.Key.Key_Escape)
    assert bar.text() == "tcp" and not bar.error.isVisible()
    assert bar.edit.palette().color(QPalette.ColorRole.Base) == green


class _Silent:
    def report(self, what: str, done: int, total: int) -> None:
        return None


def test_a_session_of_another_version_is_made_anew_with_its_notes(
    real: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    saved = tmp_path / "kept.skbv"
    import_files(sample("drops", "kbl", "pcap"), saved)
    kept = open_files([saved])
    kept.notes.set_flags("mark", np.array([3]))
    kept.close()
    with closing(sqlite3.connect(saved)) as db:
        db.execute("PRAGMA user_version = 1")
    with qtbot.waitSignal(real.tasks.ended, timeout=60_000):
        real.open_files([saved])
    assert "Notes and marks are kept" in real.banner.text and "drops.pcap" in real.banner.text
    assert real.recording is None
    QTest.mouseClick(real.banner.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: real.recording is not None, timeout=60_000)
    assert real.windowTitle().startswith("kept.skbv")
    assert real.notes.marked() == 1


def test_go_to_a_packet_life(
    real: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_and_list(real, qtbot, sample("drops", "kbl", "pcap"))
    assert real.recording is not None
    known, every = (
        real.recording.packets.kernel_only_count(),
        real.recording.packets.all_kernel_only_count(),
    )
    assert 0 < known < every
    for name in ("K2", f"k{every}"):
        monkeypatch.setattr(QInputDialog, "getText", lambda *given, name=name, **more: (name, True))
        with qtbot.waitSignal(real.row_query.shown):
            QTest.keyClick(real, Qt.Key.Key_G, CONTROL)
        assert number(real) == name.upper()
    assert real.row_query.kernel_only and real.row_query.all_lives


def test_larger_text_leaves_the_columns_as_the_user_had_them(
    real: MainWindow, qtbot: QtBot
) -> None:
    open_and_list(real, qtbot, sample("drops", "kbl", "pcap"))
    table = real.workspace.table
    at = table.packets.column_of("source")
    table.header.resizeSection(at, 300)
    QTest.keyClick(real, Qt.Key.Key_Plus, CONTROL)
    qtbot.waitUntil(lambda: 310 < table.header.sectionSize(at) < 350)
    QTest.keyClick(real, Qt.Key.Key_Equal, CONTROL)
    qtbot.waitUntil(lambda: abs(table.header.sectionSize(at) - 300) <= 2)


def test_drops_of_copies_are_not_red(real: MainWindow, qtbot: QtBot) -> None:
    open_and_list(real, qtbot, sample("drops", "kbl", "pcap"))
    model = real.workspace.table.packets
    at = model.column_of("drop")
    copy, lost = (model.cells(position)[at] for position in (3, 4))
    assert copy.text == "NO_SOCKET" and lost.text == "NETFILTER_DROP"
    red = QColor(DROP_COLOURS[0])
    assert copy.foreground != red and lost.foreground == red
    tip = model.index(4, at).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.startswith("NETFILTER_DROP at nf_hook_slow+") and tip.endswith("was lost")


def test_drops_can_be_read_on_a_dark_row(real: MainWindow, qtbot: QtBot) -> None:
    open_and_list(real, qtbot, sample("drops", "kbl", "pcap"))
    model = real.workspace.table.packets
    model.set_rules([Rule("dark", "ip", "#12272e", "#b7f774")])
    at = model.column_of("drop")
    qtbot.waitUntil(lambda: model.cells(4)[at].background == QColor("#12272e"))
    assert model.cells(4)[at].foreground == QColor(DROP_COLOURS[1])


def test_bytes_are_found_by_the_filter_engine(real: MainWindow, qtbot: QtBot) -> None:
    open_and_list(real, qtbot, sample("nat", "kbl", "pcap"))
    recording = real.recording
    assert recording is not None
    data = {
        n: recording.contents.packet_bytes(n) or b""
        for n in range(1, recording.packets.count() + 1)
    }
    said = [n for n, whole in data.items() if b"hello from" in whole]
    assert len(said) > 1
    tries = (
        Search("68 65:6c6c 6f", What.HEX),
        Search("HELLO FROM", What.STRING, Where.BYTES),
        Search("hello.{3}o", What.REGEX, Where.BYTES, True),
    )
    for search in tries:
        found, at = [], -1
        for _ in said:
            hit = find_position(recording, None, at, 1, search, Silent())
            assert hit is not None
            at = hit
            found.append(at + 1)
        assert found == said
    loud = Search("HELLO FROM", What.STRING, Where.BYTES, True)
    assert find_position(recording, None, 0, 1, loud, Silent()) is None


def test_every_cell_of_the_kernel_path_makes_a_filter_that_finds_its_packet(
    real: MainWindow, qtbot: QtBot
) -> None:
    open_and_list(real, qtbot, sample("drops", "kbl", "pcap"))
    tree = real.workspace.tree
    qtbot.waitUntil(lambda: tree.calls.rowCount() > 0)
    real.workspace.table.go_to_row(4)
    qtbot.waitUntil(lambda: tree.calls.index_of(1, 3).isValid())
    whole, seen = real.row_query.count(), set()
    for at in range(len(CALL_COLUMNS)):
        menu = tree.row_menu(tree.calls.index_of(1, 3).siblingAtColumn(at))
        with qtbot.waitSignal(real.row_query.shown):
            menu.actions()[0].trigger()
        menu.close()
        seen.add(real.row_query.filter)
        assert number(real) == "5" and 0 < real.row_query.count() <= whole
        real.use_filter("", True)
    assert len(seen) >= 9
    (order,) = tree.row_menu(tree.calls.index_of(1, -1)).actions()
    assert order.text() == "In &Order of Time"


def test_info_counts_tcp_numbers_from_the_streams_begin(real: MainWindow, qtbot: QtBot) -> None:
    open_and_list(real, qtbot, sample("handshake", "kbl", "pcap"))
    texts = [text.split("] ", 1)[1] for text in column(real, "info") if "] Seq=" in text]
    assert [" ".join(text.split(" ")[:2]) for text in texts[:3]] == [
        "Seq=0 Win=64240",
        "Seq=0 Ack=1",
        "Seq=1 Ack=1",
    ]


def test_a_large_recording_follows_streams_in_a_pause(
    real: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skbviewer.session.packets.packet_list.FEW_PACKETS", 1)
    open_and_list(real, qtbot, sample("handshake", "pcap", "kbl"))
    table = real.workspace.table.packets
    said = {row.info for n in range(table.rowCount()) if (row := table.row(n)) is not None}
    assert any("[SYN] Seq=1656350032 Win=64240" in info for info in said)
    qtbot.waitUntil(lambda: not real.colouring.busy)
    infos = column(real, "info")
    assert any("[SYN] Seq=0 Win=64240" in info for info in infos)
    assert any("[ACK] Seq=1 Ack=1 Win=64256" in info for info in infos)


def test_info_begins_with_findings_in_the_stream(
    real: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    write_streams(tmp_path / "streams.pcap", 1)
    open_and_list(real, qtbot, [tmp_path / "streams.pcap"])
    infos = column(real, "info")
    for filter_, word in (
        ("tcp.analysis.duplicate_ack", "Dup ACK "),
        ("tcp.analysis.fast_retransmission", "Fast Retransmission]"),
        ("tcp.analysis.zero_window", "ZeroWindow]"),
    ):
        with_word = [n for n, info in enumerate(infos, 1) if f"[TCP {word}" in info]
        with qtbot.waitSignal(real.row_query.shown):
            real.use_filter(filter_, True)
        shown = real.workspace.table.packets
        assert with_word and with_word == shown.ids(0, shown.rowCount()).tolist()
    again = [info for info in infos if "[TCP Fast Retransmission]" in info]
    assert not any("[TCP Retransmission]" in info for info in again)

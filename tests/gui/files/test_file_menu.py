# SPDX-License-Identifier: MIT
"""Reload, restore, save, moved files, the summary, Open Recent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QFileDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.message_and_progress_bars import left_text
from skbviewer.gui.files import recent_files as recent
from skbviewer.gui.files.import_summary import ImportSummary
from skbviewer.gui.files.moved_files import Locate
from skbviewer.gui.packets.time_column import Precision, TimeFormat
from skbviewer.gui.window.main_window import MainWindow

from ..conftest import open_and_wait
from ..fake import FakeRecording
from ..timeline.timeline_hands import choose, wait_lanes

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def recording(window: MainWindow) -> FakeRecording:
    assert isinstance(window.recording, FakeRecording)
    return window.recording


def number(window: MainWindow) -> str:
    row = window.workspace.table.current_row()
    return "" if row is None else row.number


def files(folder: Path) -> list[Path]:
    found = [folder / "捕获文件 a very long name of a capture on host-4711.pcap", folder / "a.kbl"]
    for file in found:
        file.touch()
    return found


def open_files(window: MainWindow, qtbot: QtBot, paths: list[Path]) -> None:
    with qtbot.waitSignal(window.tasks.ended):
        window.open_files(paths)


def in_dialog(kind: type[Locate], act: Callable[[Locate], None]) -> None:
    """Do something in the dialog that is about to open."""

    def look() -> None:
        found = [w for w in QApplication.topLevelWidgets() if isinstance(w, kind) and w.isVisible()]
        if found:
            act(found[0])
        else:
            QTimer.singleShot(10, look)

    QTimer.singleShot(0, look)


def leave_a_view(window: MainWindow, qtbot: QtBot, paths: list[Path]) -> None:
    """Open files, filter, sort, go to a row, change columns; then close."""
    open_files(window, qtbot, paths)
    table = window.workspace.table
    with qtbot.waitSignal(window.row_query.shown):
        window.use_filter("udp", True)
    with qtbot.waitSignal(window.row_query.shown):
        window.row_query.set_order(("frame.number", True))
    window.navigation.to_id(29)
    table.add_field("ip.ttl")
    table.header.setSectionHidden(table.packets.column_of("match"), True)
    table.set_time_format(TimeFormat.EPOCH)
    table.set_precision(Precision.MICROSECONDS)
    QTest.keyClick(window, Qt.Key.Key_W, CONTROL)
    assert window.welcome.isVisible()


def test_the_last_view_comes_back_as_it_was(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    leave_a_view(window, qtbot, files(tmp_path))
    table = window.workspace.table
    table.header.reset_asked.emit()
    table.set_time_format(TimeFormat.FIRST)
    with qtbot.waitSignal(window.row_query.shown):
        QTest.keyClick(window, Qt.Key.Key_L, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: number(window) == "29")
    assert window.workspace.filter_bar.text() == window.row_query.filter == "udp"
    assert window.row_query.order == ("frame.number", True)
    assert window.row_query.rows is not None
    assert window.row_query.rows[0] > window.row_query.rows[-1]
    assert table.header.sortIndicatorSection() == table.packets.column_of("number")
    assert table.packets.column_of("field:ip.ttl") > 0
    assert table.header.isSectionHidden(table.packets.column_of("match"))
    assert table.packets.time_format is TimeFormat.EPOCH
    assert table.packets.precision is Precision.MICROSECONDS


@pytest.mark.parametrize("lanes", ["selected", "cpu", "packet"])
def test_lanes_and_zoom_of_the_timeline_come_back(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, lanes: str
) -> None:
    open_files(window, qtbot, files(tmp_path))
    window.navigation.to_id(7)
    view = window.workspace.timeline
    choose(view, lanes)
    wait_lanes(view, qtbot)
    assert view.state.span is not None
    view.show_window(view.state.span[0] + 1_000, view.state.span[0] + 9_000)
    kept = view.window_ns()
    QTest.keyClick(window, Qt.Key.Key_W, CONTROL)
    with qtbot.waitSignal(window.tasks.ended):
        window.opening.restore()
    qtbot.waitUntil(lambda: number(window) == "7")
    wait_lanes(view, qtbot)
    assert view.kind.currentData() == lanes
    assert view.window_ns() == pytest.approx(kept, abs=2)


def test_without_a_last_view_a_line_says_so(window: MainWindow) -> None:
    window.menus.actions["Restore Last View"].trigger()
    assert "No files were open before" in window.banner.text


def test_reload_reads_again_and_keeps_the_view(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    open_files(window, qtbot, files(tmp_path))
    first = recording(window)
    with qtbot.waitSignal(window.row_query.shown):
        window.use_filter("udp", True)
    window.navigation.to_id(9)
    with qtbot.waitSignal(window.row_query.shown):
        QTest.keyClick(window, Qt.Key.Key_R, CONTROL)
    qtbot.waitUntil(lambda: window.row_query.filter == "udp" and number(window) == "9")
    assert first.closed
    assert recording(window) is not first


def test_files_that_moved_are_asked_for(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    leave_a_view(window, qtbot, files(tmp_path))
    there = tmp_path / "moved"
    there.mkdir()
    moved = [file.rename(there / file.name) for file in files(tmp_path)]

    def answer(dialog: Locate) -> None:
        assert not dialog.buttons.button(dialog.buttons.StandardButton.Ok).isEnabled()
        dialog.lines[0].insert(str(moved[0]))
        assert dialog.found() == moved  # the other was found beside it
        QTest.mouseClick(
            dialog.buttons.button(dialog.buttons.StandardButton.Ok), Qt.MouseButton.LeftButton
        )

    in_dialog(Locate, answer)
    with qtbot.waitSignal(window.tasks.ended):
        window.opening.restore()
    assert window.opening.files == tuple(moved)


def test_giving_up_on_moved_files_changes_nothing(
    opened: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    first = recording(opened)
    in_dialog(Locate, lambda dialog: dialog.reject())
    opened.opening.open_recent([tmp_path / "gone.pcap"])
    assert not opened.tasks.busy
    assert recording(opened) is first


def test_a_session_whose_inputs_moved_says_so_and_finds_them(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    found = files(tmp_path)
    open_and_wait(window, qtbot, "s.skbv")
    assert "no longer where they were" in window.banner.text

    def answer(dialog: Locate) -> None:
        for row, path in enumerate(found):
            dialog.take(row, path)
        dialog.accept()

    in_dialog(Locate, answer)
    with qtbot.waitSignals([window.tasks.ended, window.selection.path_changed]):
        QTest.mouseClick(window.banner.button, Qt.MouseButton.LeftButton)
    assert recording(window).moved == {1: found[0], 2: found[1]}
    assert not window.banner.isVisible()


def test_save_as_goes_on_with_the_saved_session(
    opened: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, out = recording(opened), tmp_path / "保存.skbv"
    answer = (str(out.with_suffix("")), "")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    opened.navigation.to_id(12)
    with qtbot.waitSignal(opened.tasks.ended):
        QTest.keyClick(opened, Qt.Key.Key_S, CONTROL | SHIFT)
    assert first.saved == [out]
    assert opened.opening.files == (out,)
    assert opened.windowTitle().startswith("保存.skbv")
    qtbot.waitUntil(lambda: number(opened) == "12")
    QTest.keyClick(opened, Qt.Key.Key_S, CONTROL)
    assert opened.statusBar().currentMessage() == "Everything is saved"


def summaries() -> list[QWidget]:
    """Return the summary windows that are open."""
    windows = QApplication.topLevelWidgets()
    return [each for each in windows if isinstance(each, ImportSummary) and each.isVisible()]


def test_a_line_reports_an_import_and_the_summary_shows_on_demand(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    QSettings().setValue("import_summary", "true")
    open_files(window, qtbot, files(tmp_path))
    assert window.banner.text.startswith("Imported 60 packets and ")
    assert "40 exact" in window.banner.text
    assert not summaries()  # nothing covers the work
    QTest.mouseClick(window.banner.button, Qt.MouseButton.LeftButton)
    dialog = window.opening.summary
    assert isinstance(dialog, ImportSummary) and dialog.isVisible()
    text = dialog.text.toPlainText()
    for part in (
        "handshake.pcap",
        "capture",
        "All packets",
        "40",
        "19",
        "3 packets with an address",
        "Lost",
    ):
        assert part in text
    assert dialog.text.verticalScrollBar().maximum() == 0  # it shows whole
    box = dialog.findChild(QCheckBox)
    assert isinstance(box, QCheckBox)
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))
    dialog.close()
    open_files(window, qtbot, files(tmp_path))
    assert not summaries()
    window.menus.actions["Summary"].trigger()
    assert window.opening.summary is not None and window.opening.summary.isVisible()


def test_open_recent_lists_what_was_open(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    paths = files(tmp_path)
    open_files(window, qtbot, paths)
    menu = next(
        m
        for m in window.menuBar().findChildren(QMenu)
        if m.title().replace("&", "") == "Open Recent"
    )
    menu.aboutToShow.emit()
    assert menu.actions()[0].text() == recent.label(paths)
    with qtbot.waitSignal(window.tasks.ended):
        menu.actions()[0].trigger()
    assert window.opening.files == tuple(paths)
    menu.aboutToShow.emit()
    menu.actions()[-1].trigger()
    assert recent.recent_files() == []


def test_recent_files_have_plain_paths(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    recent.remember([tmp_path / "sub" / ".." / "a.pcap"])
    assert recent.recent_files() == [(tmp_path / "a.pcap",)]


def test_the_time_left_is_shown() -> None:
    assert left_text(0.2, 1, 10) == ""
    assert left_text(10, 0, 10) == ""
    assert left_text(10, 25, 100) == ", about 30 s left"
    assert left_text(100, 10, 100) == ", about 15 min left"

# SPDX-License-Identifier: MIT
"""The window as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QFileDialog, QInputDialog, QMenu
from pytestqt.qtbot import QtBot

from skbviewer.analysis.timeline.shown_timeline_part import command_of
from skbviewer.gui.base.appearance import Theme
from skbviewer.gui.files import bundled_recordings, export_menu
from skbviewer.gui.files import recent_files as recent
from skbviewer.gui.files.welcome_page import RECORD_COMMANDS
from skbviewer.gui.timeline.window_connection import shown_now
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records import resource

from ..conftest import open_and_wait
from ..fake import FakeRecording


def recording(window: MainWindow) -> FakeRecording:
    assert isinstance(window.recording, FakeRecording)
    return window.recording


def test_with_nothing_open_the_welcome_page_shows(window: MainWindow, qtbot: QtBot) -> None:
    assert window.welcome.isVisible()
    assert not window.workspace.isVisible()
    assert window.welcome.open_button.isVisible()
    assert window.welcome.bundled_button.isVisible()
    QTest.mouseClick(window.welcome.copy_button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == RECORD_COMMANDS


def test_the_commands_to_record_are_those_of_the_readme() -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    for command in RECORD_COMMANDS.splitlines():
        assert command in readme


def test_a_selected_packet_shows_in_tree_and_timeline(opened: MainWindow, qtbot: QtBot) -> None:
    table, tree = opened.workspace.table, opened.workspace.tree
    place = table.visualRect(table.packets.index(2, 6)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert "Packet 3" in opened.workspace.summary.text()
    assert tree.calls.rowCount() == 2
    assert "ip_output" in opened.workspace.timeline.item.layout.labels
    QTest.keyClick(table, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    assert tree.calls.rowCount() == 0
    assert "no kernel log has records of this packet" in opened.workspace.summary.text()


def test_functions_without_an_skb_can_be_left_out(opened: MainWindow, qtbot: QtBot) -> None:
    action, changed = opened.menus.actions["Functions Without an skb"], list[object]()
    opened.workspace.table.selectRow(1)
    opened.selection.path_changed.connect(changed.append)
    for shown in (False, True):
        action.trigger()
        assert recording(opened).inner is opened.selection.inner is shown
        assert action.isChecked() is shown
    assert len(changed) == 2
    action.trigger()
    open_and_wait(opened, qtbot, "other.pcap")
    assert recording(opened).inner is False


def test_the_timeline_follows_the_switch(
    opened: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lanes are read again, and the command of the export dialog has the option."""
    opened.workspace.timeline.show_kind("cpu")
    asked = list[bool]()
    loader = opened.workspace.timeline.loader
    monkeypatch.setattr(loader, "lanes", lambda *_: asked.append(recording(opened).inner))
    for shown in (False, True):
        opened.toggle_inner()
        part = shown_now(opened.workspace.timeline, opened.selection, "")
        assert asked.pop() is shown and part is not None
        assert ("--no-inner" in command_of(part, ["a.skbv"], "png", 0).split()) is not shown


def test_timeline_click_selects_in_the_tree_and_back(opened: MainWindow, qtbot: QtBot) -> None:
    tree, line = opened.workspace.tree, opened.workspace.timeline
    QApplication.processEvents()
    bar = line.item.layout.bars[5]
    at = QPointF(float(bar["begin"] + bar["end"]) / 2, float(bar["y"]) + 0.5)
    place = line.plot.mapFromScene(line.box.mapViewToScene(at))
    QTest.mouseClick(line.plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert tree.currentIndex().data() == "__dev_queue_xmit"
    place = tree.visualRect(tree.calls.index_of(0, 3)).center()
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert line.item.selected == 3


def test_status_bar_counts(opened: MainWindow, qtbot: QtBot) -> None:
    assert opened.status.text() == "Packets: 60  ·  Displayed: 60 (100.0 %)"
    qtbot.waitUntil(lambda: not opened.counting.busy)
    text = opened.recording_status.toolTip()
    for part in ("Matched: 40", "Ambiguous: 1", "Wire-only: 19", "Kernel-only: 3"):
        assert part in text
    assert "Lost records: 0" in text
    assert "Clock offset: 1699999919.000000000 s ± 850 ns" in text


def test_files_can_be_dropped(window: MainWindow, qtbot: QtBot) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/tmp/a.pcap"), QUrl.fromLocalFile("/tmp/a.kbl")])
    copy, left, none = (
        Qt.DropAction.CopyAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    enter = QDragEnterEvent(QPoint(40, 40), copy, data, left, none)
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted()
    drop = QDropEvent(QPointF(40, 40), copy, data, left, none)
    with qtbot.waitSignal(window.tasks.ended):
        QApplication.sendEvent(window, drop)
    assert recording(window).kinds == ["pcap", "kbl"]


def test_a_drop_is_a_copy_even_where_the_source_offers_to_move(
    window: MainWindow, qtbot: QtBot
) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/tmp/a.pcap")])
    offered = Qt.DropAction.MoveAction | Qt.DropAction.CopyAction
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier
    for event in (
        QDragEnterEvent(QPoint(40, 40), offered, data, left, none),
        QDropEvent(QPointF(40, 40), offered, data, left, none),
    ):
        event.setDropAction(Qt.DropAction.MoveAction)
        QApplication.sendEvent(window, event)
        assert event.isAccepted() and event.dropAction() == Qt.DropAction.CopyAction
    qtbot.waitUntil(lambda: window.recording is not None)


def test_a_banner_has_the_colours_of_the_theme_that_is_chosen(opened: MainWindow) -> None:
    for kind in ("error", "hint"):
        opened.banner.show_text("Something.", kind)
        seen = []
        for theme in (Theme.LIGHT, Theme.DARK):
            opened.appearance.set_theme(theme)
            QApplication.processEvents()
            seen.append(opened.banner.palette().color(QPalette.ColorRole.Window))
        opened.appearance.set_theme(Theme.LIGHT)
        assert seen[0].lightness() > 200 > 100 > seen[1].lightness()
        opened.banner.show_text("Something.", kind)
        assert opened.banner.palette().color(QPalette.ColorRole.Window) == seen[0]


def test_an_empty_check_box_has_a_visible_outline_in_both_themes(
    opened: MainWindow, qtbot: QtBot
) -> None:
    for theme in (Theme.DARK, Theme.LIGHT):
        opened.appearance.set_theme(theme)
        box = QCheckBox()
        qtbot.addWidget(box)
        box.adjustSize()
        image = box.grab().toImage()
        middle = image.height() // 2
        shades = [image.pixelColor(x, middle).lightness() for x in range(image.width())]
        assert max(shades) - min(shades) > 60


def test_every_sub_menu_has_a_status_tip_of_its_own(opened: MainWindow) -> None:
    menus = [menu for menu in opened.menuBar().findChildren(QMenu) if menu.title()]
    assert len(menus) > 8
    assert all(menu.menuAction().statusTip() for menu in menus)


def test_the_bundled_recordings_are_all_in_the_file_menu(window: MainWindow, qtbot: QtBot) -> None:
    menu = next(
        m for m in window.menuBar().findChildren(QMenu) if m.title() == "Open &Bundled Recording"
    )
    menu.aboutToShow.emit()
    names = {path.parent.name for path in resource("samples").glob("*/*.kbl")}
    assert len(names) == 7 and set(bundled_recordings.titles()) == names
    assert [action.text() for action in menu.actions()] == list(
        bundled_recordings.titles().values()
    )
    assert menu.actions()[0].text() == "A TCP handshake, and a little more"
    for number, name in enumerate(bundled_recordings.titles()):
        menu.aboutToShow.emit()
        with qtbot.waitSignal(window.tasks.ended):
            menu.actions()[number].trigger()
        assert window.opening.files == bundled_recordings.bundled_files(name)
        assert all(path.exists() for path in bundled_recordings.bundled_files(name))


def test_a_bad_file_is_reported_in_one_line_and_nothing_is_lost(
    opened: MainWindow, qtbot: QtBot
) -> None:
    open_and_wait(opened, qtbot, "bad.skbv")
    assert opened.banner.isVisible()
    assert opened.banner.text == "/tmp/bad.skbv at byte 24: not a capture: unknown magic 0x12345678"
    assert opened.workspace.isVisible()
    assert not recording(opened).closed


def test_the_close_button_of_every_banner_closes_it(opened: MainWindow) -> None:
    for kind in ("error", "hint"):
        opened.banner.show_text("Something is wrong.", kind)
        QTest.mouseClick(opened.banner.close_button, Qt.MouseButton.LeftButton)
        assert not opened.banner.isVisible() and opened.banner.text == ""


def test_an_import_shows_progress_and_can_be_cancelled(window: MainWindow, qtbot: QtBot) -> None:
    window.open_files([Path("/tmp/slow.pcap")])
    qtbot.waitUntil(lambda: window.work_bar.bar.value() > 0)
    assert window.work_bar.isVisible()
    QTest.mouseClick(window.work_bar.button, Qt.MouseButton.LeftButton)
    assert not window.work_bar.isVisible()
    assert not window.tasks.busy
    assert window.recording is None
    assert window.welcome.isVisible()


def test_closing_while_an_import_runs_leaves_no_thread(window: MainWindow, qtbot: QtBot) -> None:
    window.open_files([Path("/tmp/slow.pcap")])
    window.close()
    assert not window.tasks.busy


def test_a_capture_alone_says_what_is_missing_and_a_kbl_joins_it(
    window: MainWindow, qtbot: QtBot
) -> None:
    open_and_wait(window, qtbot, "a.pcap")
    assert "No kernel log" in window.banner.text
    open_and_wait(window, qtbot, "a.kbl")
    assert recording(window).kinds == ["pcap", "kbl"]
    assert not window.banner.isVisible()


def test_a_kbl_alone_lists_kernel_only_packets(window: MainWindow, qtbot: QtBot) -> None:
    open_and_wait(window, qtbot, "a.kbl")
    assert "No packet capture" in window.banner.text
    qtbot.waitUntil(lambda: window.workspace.table.current_row() is not None)
    row = window.workspace.table.current_row()
    assert row is not None and row.number == "K1"
    assert window.workspace.tree.calls.rowCount() == 1


def test_kernel_only_packets_can_be_listed_below(opened: MainWindow, qtbot: QtBot) -> None:
    packets = opened.workspace.table.packets
    assert packets.rowCount() == 60
    with qtbot.waitSignal(opened.row_query.shown):
        opened.menus.actions["Kernel-Only Packets"].trigger()
    assert packets.rowCount() == 63


def test_opening_another_recording_closes_the_first(opened: MainWindow, qtbot: QtBot) -> None:
    first = recording(opened)
    open_and_wait(opened, qtbot, "other.kbl", "other.pcap")
    assert first.closed
    assert recording(opened) is not first


def test_recent_files_are_remembered(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    files = [tmp_path / "a.pcap", tmp_path / "a.kbl"]
    for file in files:
        file.touch()
    with qtbot.waitSignal(window.tasks.ended):
        window.open_files(files)
    assert recent.recent_files() == [tuple(files)]


def test_go_to_packet(opened: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QInputDialog, "getText", lambda *given, **more: ("33", True))
    QTest.keyClick(opened, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    row = opened.workspace.table.current_row()
    assert row is not None and row.number == "33"


def test_export_writes_picture_and_table(
    opened: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for export in export_menu.OF_PACKET:
        out = tmp_path / f"out.{export.name}"
        answer = (str(out), "")
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, answer=answer: answer)
        opened.menus.actions[export.menu.replace("&", "").rstrip("…")].trigger()
        assert out.stat().st_size > 500, opened.banner.text
    for name in ("csv", "folded", "speedscope"):
        assert "veth_xmit" in (tmp_path / f"out.{name}").read_text()


def test_an_export_that_fails_says_so(
    opened: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = (str(tmp_path / "missing" / "out.png"), "")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    opened.menus.actions["Export PNG"].trigger()
    assert "Export PNG" in opened.banner.text
    assert str(tmp_path) in opened.banner.text


def test_closing_the_recording_returns_to_the_welcome_page(opened: MainWindow) -> None:
    first = recording(opened)
    opened.close_recording()
    assert first.closed
    assert opened.welcome.isVisible()
    assert opened.workspace.table.packets.rowCount() == 0

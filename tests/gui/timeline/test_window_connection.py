# SPDX-License-Identifier: MIT
"""The timeline in the window: its range filters the list, notes are undone, it is exported."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from skbviewer.analysis.stats import Stack
from skbviewer.analysis.timeline.shown_timeline_part import Shown
from skbviewer.gui.base.recording_interface import Recording
from skbviewer.gui.files.timeline_export import OFFERED, ExportDialog
from skbviewer.gui.filters.time_range_filter import RangeFilter
from skbviewer.gui.timeline.timeline_view import TimelineView
from skbviewer.gui.timeline.window_connection import shown_now
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records import Progress
from skbviewer.records.resource_files import resource
from skbviewer.session import import_files, open_files

from ..fake import FakeRecording
from ..fake_timeline import FakeTimeline
from .timeline_hands import drag, wait_lanes


def show_lanes(window: MainWindow, kind: str) -> None:
    """Show other lanes in the timeline; open its pane if it is closed."""
    window.workspace.docks["timeline"].show()
    window.workspace.timeline.show_kind(kind)


def notes_shown(view: TimelineView) -> list[str]:
    """Return the texts of the notes that refer to a time."""
    return [place.note.text for place in view.state.notes]


def shown_in(window: MainWindow) -> Shown | None:
    return shown_now(window.workspace.timeline, window.selection, window.row_query.filter)


@pytest.fixture
def timed(opened: MainWindow, qtbot: QtBot) -> MainWindow:
    """The window with lanes by CPU."""
    show_lanes(opened, "cpu")
    wait_lanes(opened.workspace.timeline, qtbot)
    return opened


def recording_of(window: MainWindow) -> FakeTimeline:
    return cast(FakeTimeline, window.recording)


def test_a_range_filters_the_list_beside_the_filter_there_is() -> None:
    filters = ["tcp"]
    ranges = RangeFilter(lambda: filters[-1], filters.append)
    recording = FakeRecording()
    ranges.select(recording, (5, 9))
    ranges.select(recording, (6, 9))
    ranges.select(recording, None)
    first, second = (f"(tcp) && frame.time_epoch >= {at}" for at in (5, 6))
    assert filters == ["tcp", first, second, "tcp"]


def test_a_filter_typed_meanwhile_stays_when_the_range_goes() -> None:
    filters = [""]
    ranges = RangeFilter(lambda: filters[-1], filters.append)
    ranges.select(FakeRecording(), (5, 9))
    filters.append("udp")
    ranges.select(FakeRecording(), None)
    assert filters == ["", "frame.time_epoch >= 5", "udp"]


def test_dragging_on_the_timeline_filters_the_list(timed: MainWindow, qtbot: QtBot) -> None:
    view = timed.workspace.timeline
    with qtbot.waitSignal(timed.selection.filter_asked) as asked:
        drag(view, QPoint(200, 100), QPoint(300, 100))
    assert asked.args is not None
    assert asked.args[0].startswith("frame.time_epoch >= ")
    assert timed.selection.range == view.state.range
    qtbot.waitUntil(lambda: not timed.row_query.tasks.busy)
    QTest.keyClick(view, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: timed.row_query.filter == "" and not timed.row_query.tasks.busy)


def test_a_note_can_be_undone_and_done_again(
    timed: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skbviewer.gui.timeline.timeline_notes.ask_text", lambda *_: "slow")
    view, recording = timed.workspace.timeline, recording_of(timed)
    view.show_range((view.window_ns()[0], view.window_ns()[1]))
    QTest.keyClick(view, Qt.Key.Key_M)
    assert [note.text for note in recording.kept] == ["slow"]
    timed.notes.stack.undo()
    assert recording.kept == []
    assert not notes_shown(view)
    timed.notes.stack.redo()
    assert notes_shown(view) == ["slow"]


def test_what_is_shown_is_what_is_exported(timed: MainWindow, qtbot: QtBot) -> None:
    view = timed.workspace.timeline
    view.set_marker("A", 7)
    shown = shown_in(timed)
    assert shown is not None
    assert (shown.lanes, shown.range, shown.a) == ("cpu", view.window_ns(), 7)
    timed.workspace.table.setFocus()
    show_lanes(timed, "selected")
    timed.selection.choose_nothing()
    assert shown_in(timed) is None


@pytest.fixture(scope="module")
def handshake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recording]:
    """A real recording: some formats copy what no made-up one has, such as bytes of packets."""
    saved = tmp_path_factory.mktemp("handshake") / "handshake.skbv"
    folder = resource("samples/handshake")
    import_files([folder / "handshake.kbl", folder / "handshake.pcap"], saved)
    recording = open_files([saved])
    yield recording
    recording.close()


@pytest.mark.parametrize("form", [f"{e.name} {subject.name}" for e, subject in OFFERED])
def test_the_dialog_writes_what_its_command_writes(
    handshake: Recording, qtbot: QtBot, tmp_path: Path, form: str
) -> None:
    dialog = ExportDialog(handshake, Shown("cpu", filter="tcp"))
    qtbot.addWidget(dialog)
    dialog.open()
    out = tmp_path / "x"
    dialog.ask_name = lambda *_: (str(out), "")
    dialog.form.setCurrentIndex(dialog.form.findData(form))
    dialog.wide.setValue(700)
    dialog.high.setValue(500)
    dialog.title_edit.clear()
    QTest.keyClicks(dialog.title_edit, "Mine")
    words = dialog.command.text()
    assert words.startswith(f"skbviewer export {handshake.words()[0]} --")
    assert "--filter" in words
    if form.endswith("TIMELINE"):
        assert "--title Mine" in words
        assert "--size 700x500" in words
    dialog.save()
    qtbot.waitUntil(lambda: dialog.made == out, timeout=240_000)
    assert out.stat().st_size > 0
    assert not dialog.isVisible()


def test_a_long_export_can_be_cancelled(
    timed: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, recording = shown_in(timed), recording_of(timed)
    assert shown is not None

    def endless(text: str, progress: Progress) -> list[Stack]:
        while True:
            progress.report("Counting", 1, 2)
            time.sleep(0.01)

    monkeypatch.setattr(recording, "stacks", endless)
    assert timed.recording is not None
    dialog = ExportDialog(timed.recording, shown, timed)
    dialog.open()
    out = tmp_path / "x.folded"
    dialog.ask_name = lambda *_: (str(out), "")
    dialog.form.setCurrentIndex(dialog.form.findData("folded PACKETS"))
    dialog.save()
    save = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
    assert not save.isEnabled()
    qtbot.waitUntil(dialog.work_bar.isVisible)
    dialog.work_bar.button.click()
    assert dialog.isVisible() and save.isEnabled() and not dialog.work_bar.isVisible()
    assert dialog.made is None and not out.exists()
    dialog.close()
    assert not dialog.tasks.busy


def test_a_file_that_cannot_be_written_is_reported_in_the_dialog(
    timed: MainWindow, tmp_path: Path
) -> None:
    shown = shown_in(timed)
    assert shown is not None
    assert timed.recording is not None
    dialog = ExportDialog(timed.recording, shown, timed)
    dialog.open()
    dialog.ask_name = lambda *_: (str(tmp_path / "no" / "x.png"), "")
    dialog.save()
    assert "no/x.png" in dialog.error.text()
    assert dialog.isVisible()
    dialog.close()
    QApplication.processEvents()

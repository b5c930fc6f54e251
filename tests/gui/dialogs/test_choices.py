# SPDX-License-Identifier: MIT
"""Preferences, profiles, colours of conversations, an exact time range: as a person does it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QInputDialog
from pytestqt.qtbot import QtBot

from skbviewer.gui.dialogs import settings_profiles
from skbviewer.gui.dialogs.colouring_rules import CONVERSATIONS
from skbviewer.gui.dialogs.preferences import Preferences
from skbviewer.gui.dialogs.profile_dialog import ProfileDialog
from skbviewer.gui.packets.time_column import TimeFormat
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.records.resource_files import resource
from skbviewer.session import open_files

from ..conftest import show_window

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def real(
    qtbot: QtBot, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    yield from show_window(qtbot, open_files)


def open_drops(window: MainWindow, qtbot: QtBot) -> None:
    folder = resource("samples/drops")
    with qtbot.waitSignal(window.tasks.ended, timeout=60_000):
        window.open_files([folder / "drops.kbl", folder / "drops.pcap"])
    qtbot.waitUntil(lambda: window.workspace.table.current_row() is not None)


def time_format(window: MainWindow) -> TimeFormat:
    return window.workspace.table.packets.time_format


def profile_dialog(window: MainWindow) -> ProfileDialog:
    """The dialog, opened by its keys."""
    window.activateWindow()
    QApplication.processEvents()
    QTest.keyClick(window, Qt.Key.Key_A, CONTROL | SHIFT)
    (dialog,) = window.findChildren(ProfileDialog)
    return dialog


def choose(window: MainWindow, name: str) -> None:
    """Choose a profile by keys: Ctrl+Shift+A, to its line, Enter."""
    dialog = profile_dialog(window)
    dialog.list.setCurrentRow(settings_profiles.names().index(name))
    QTest.keyClick(dialog.list, Qt.Key.Key_Return)
    QApplication.sendPostedEvents(None, 52)  # QEvent.DeferredDelete
    QApplication.processEvents()


def test_a_profile_keeps_columns_and_times(opened: MainWindow, qtbot: QtBot) -> None:
    table = opened.workspace.table
    dialog = profile_dialog(opened)
    assert not dialog.add.isEnabled() and not dialog.remove.isEnabled()
    QTest.keyClicks(dialog.name, "Drops")
    QTest.mouseClick(dialog.add, Qt.MouseButton.LeftButton)
    assert settings_profiles.current() == "Drops"
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert opened.profile_status.text() == "Profile: Drops"
    table.header.setSectionHidden(table.packets.column_of("process"), True)
    table.set_time_format(TimeFormat.EPOCH)
    qtbot.waitUntil(lambda: not opened.findChildren(ProfileDialog))
    choose(opened, "Default")
    assert not table.header.isSectionHidden(table.packets.column_of("process"))
    assert time_format(opened) is TimeFormat.FIRST
    qtbot.waitUntil(lambda: not opened.findChildren(ProfileDialog))
    choose(opened, "Drops")
    assert table.header.isSectionHidden(table.packets.column_of("process"))
    assert time_format(opened) is TimeFormat.EPOCH
    qtbot.waitUntil(lambda: not opened.findChildren(ProfileDialog))
    dialog = profile_dialog(opened)
    QTest.mouseClick(dialog.remove, Qt.MouseButton.LeftButton)
    assert settings_profiles.names() == ["Default"] and opened.profile_status.text() == ""
    dialog.close()


def test_preferences_are_in_force_at_once(opened: MainWindow) -> None:
    QTest.keyClick(opened, Qt.Key.Key_P, CONTROL | SHIFT)
    (dialog,) = opened.findChildren(Preferences)
    dialog.theme.setCurrentText("Dark")
    assert opened.appearance.dark()
    dialog.theme.setCurrentText("Light")
    assert not opened.appearance.dark()
    size = QApplication.font().pointSizeF()
    QTest.keyClick(dialog.text, Qt.Key.Key_Up)
    QTest.keyClick(dialog.text, Qt.Key.Key_Up)
    assert dialog.text.text() == "121%"
    assert QApplication.font().pointSizeF() == pytest.approx(size * 1.21)
    QTest.keyClick(dialog.text, Qt.Key.Key_Down)
    QTest.keyClick(dialog.text, Qt.Key.Key_Down)
    assert (dialog.text.text(), QApplication.font().pointSizeF()) == ("100%", size)
    dialog.times.setCurrentText(TimeFormat.PREVIOUS.value)
    assert time_format(opened) is TimeFormat.PREVIOUS
    dialog.summary.setChecked(True)
    assert QSettings().value("import_summary") == "true"
    dialog.summary.setChecked(False)
    QTest.mouseClick(
        dialog.findChildren(QDialogButtonBox)[0].buttons()[0], Qt.MouseButton.LeftButton
    )
    assert not dialog.isVisible()


def test_a_plain_drag_moves_if_preferred(opened: MainWindow) -> None:
    view = opened.workspace.timeline
    viewport, middle = view.plot.viewport(), view.plot.viewport().rect().center()

    def drag(keys: Qt.KeyboardModifier) -> None:
        QTest.mousePress(viewport, Qt.MouseButton.LeftButton, keys, middle)
        for step in (10, 30, 60):
            QTest.mouseMove(viewport, middle + type(middle)(step, 0))
            QApplication.processEvents()
        end = middle + type(middle)(60, 0)
        QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, keys, end)

    view.box.zoom(0.5)
    nothing = view.state.range
    QSettings().setValue("timeline_drag", "moves")
    before = view.box.viewRange()[0]
    drag(Qt.KeyboardModifier.NoModifier)
    assert view.state.range == nothing
    assert view.box.viewRange()[0][0] < before[0]
    QSettings().remove("timeline_drag")
    before = view.box.viewRange()[0]
    drag(Qt.KeyboardModifier.NoModifier)
    assert view.state.range != nothing
    assert view.box.viewRange()[0] == before


def test_conversations_get_colours_of_their_own(real: MainWindow, qtbot: QtBot) -> None:
    open_drops(real, qtbot)
    table = real.workspace.table
    QTest.keyClick(table, Qt.Key.Key_Down, Qt.KeyboardModifier.NoModifier)
    table.go_to_row(4)
    plain = table.packets.cells(4)[0].background
    QTest.keyClick(real, Qt.Key.Key_3, CONTROL)
    painted, other = table.packets.cells(4)[0].background, table.packets.cells(5)[0].background
    assert painted is not None and painted.name() == CONVERSATIONS[2]
    assert plain == other  # another port: another conversation
    QTest.keyClick(real, Qt.Key.Key_Space, CONTROL)
    assert table.packets.cells(4)[0].background == plain


def test_an_exact_time_range(
    real: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_drops(real, qtbot)
    view = real.workspace.timeline
    qtbot.waitUntil(lambda: not view.loader.busy)
    view.show_kind("cpu")
    qtbot.waitUntil(lambda: not view.loader.busy and view.lanes.timeline is not None)
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **more: ("0.01, 0.02", True))
    QTest.keyClick(real, Qt.Key.Key_G, CONTROL | SHIFT)
    shown = [at - view.zero_ns() for at in view.window_ns()]
    assert shown == pytest.approx([10_000_000, 20_000_000], abs=9)
    answers, asked = iter([("2, 1", True), ("0.3", True), ("0.03, 0.04", True)]), []

    def answer(*words: object, text: str) -> tuple[str, bool]:
        asked.append((str(words[-1]), text))
        return next(answers)

    monkeypatch.setattr(QInputDialog, "getText", answer)
    QTest.keyClick(real, Qt.Key.Key_G, CONTROL | SHIFT)
    assert [text for _, text in asked[1:]] == ["2, 1", "0.3"]  # to be mended, not typed again
    assert "ends before it begins: 2, 1" in asked[1][0]
    assert "Not two numbers separated by a comma: 0.3" in asked[2][0]
    shown = [at - view.zero_ns() for at in view.window_ns()]
    assert shown == pytest.approx([30_000_000, 40_000_000], abs=9)


def test_the_markers_difference_is_shown_in_a_narrow_pane(opened: MainWindow, qtbot: QtBot) -> None:
    view, legend = opened.workspace.timeline, opened.workspace.timeline.legend
    qtbot.waitUntil(lambda: not view.loader.busy)  # the legend shows its progress in the same place
    layers = view.mode.layers()
    view.set_marker("A", view.window_ns()[0])
    view.set_marker("B", view.window_ns()[0] + 1_000)
    assert legend.message == "B − A = +1.000 µs"
    wide = legend.height()
    legend.setFixedWidth(legend.fontMetrics().horizontalAdvance(legend.message) + 120)
    QApplication.processEvents()
    assert len(list(layers)) > 1
    assert legend.height() > wide  # the layers took a second line, the difference its room
    view.set_marker("A", None)
    assert legend.message == ""


def test_a_filter_from_a_menu_counts_as_applied(opened: MainWindow, qtbot: QtBot) -> None:
    bar = opened.workspace.filter_bar
    with qtbot.waitSignal(opened.row_query.shown):
        opened.use_filter("udp", True)
    assert not bar.apply_action.isVisible()
    QTest.keyClicks(bar.edit, " || tcp")
    assert bar.apply_action.isVisible()
    QTest.keyClick(bar.edit, Qt.Key.Key_Escape)  # closes what is completed, if anything is
    QTest.keyClick(bar.edit, Qt.Key.Key_Escape)
    assert bar.text() == "udp"


def title_font(app: QApplication) -> QFont:
    """Return the font of pane titles. The stub asks for bytes, which PySide refuses."""
    return QFont(app.font("QDockWidgetTitle"))  # type: ignore[call-overload]


def test_text_zoom_reaches_the_titles_of_panes(window: MainWindow, qapp: QApplication) -> None:
    usual = title_font(qapp).pointSizeF()
    try:
        window.appearance.zoom_by(4)
        assert title_font(qapp).pointSizeF() > 1.3 * usual
    finally:
        window.appearance.zoom_by(0)

# SPDX-License-Identifier: MIT
"""Keys, tips, themes, sizes, layout, names for screen readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtGui import QAction, QFont, QKeySequence, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QMenu,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from skbviewer.gui.packet_panes.header_tree import DetailTree
from skbviewer.gui.window.actions import ACTIONS, LINE, MENUS
from skbviewer.gui.window.key_list import KeyList
from skbviewer.gui.window.main_window import MainWindow
from skbviewer.gui.window.row_menu import row_menu

from ..conftest import open_and_wait
from ..fake import opener

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(autouse=True)
def usual_looks(qapp: QApplication) -> Iterator[None]:
    font, palette = QFont(qapp.font()), QPalette(qapp.palette())
    yield
    qapp.setFont(font)
    qapp.setPalette(palette)


def test_no_key_means_two_things(window: MainWindow) -> None:
    keys = Counter(QKeySequence(key).toString() for action in ACTIONS for key in action.keys)
    assert [key for key, count in keys.items() if count > 1] == []
    assert "" not in keys


def test_wiresharks_keys_are_there() -> None:
    of = {action.name: action.keys for action in ACTIONS}
    for name, key in (
        ("Open", "Ctrl+O"), ("Close", "Ctrl+W"), ("Save As", "Ctrl+Shift+S"), ("Quit", "Ctrl+Q"),
        ("Reload", "Ctrl+R"), ("Find Packet", "Ctrl+F"), ("Find Next", "Ctrl+N"),
        ("Find Previous", "Ctrl+B"), ("Go to Packet", "Ctrl+G"), ("First Packet", "Ctrl+Home"),
        ("Last Packet", "Ctrl+End"), ("Next Packet", "Ctrl+Down"), ("Next Packet", "F8"),
        ("Next in Conversation", "Ctrl+."), ("Previous in Conversation", "Ctrl+,"),
        ("Back", "Alt+Left"), ("Forward", "Alt+Right"), ("Mark/Unmark Packet", "Ctrl+M"),
        ("Next Mark", "Ctrl+Shift+N"), ("Previous Mark", "Ctrl+Shift+B"),
        ("Mark All Displayed", "Ctrl+Shift+M"), ("Set/Unset Time Reference", "Ctrl+T"),
        ("Ignore/Unignore Packet", "Ctrl+D"), ("Packet Comment", "Ctrl+Alt+C"),
        ("Resize All Columns", "Ctrl+Shift+R"), ("Zoom In", "Ctrl++"), ("Zoom Out", "Ctrl+-"),
        ("Normal Size", "Ctrl+="),
    ):  # fmt: skip
        assert key in of[name], name
    assert of["Zoom In"] == ("Ctrl++",)  # with Ctrl+Shift+= it is ambiguous where + is above =


def test_menus_stand_in_wiresharks_order(window: MainWindow) -> None:
    titles = [action.text() for action in window.menuBar().actions()]
    assert titles == [title for title in MENUS if title in titles]
    for title in ("&File", "&Edit", "&View", "&Go", "&Analyze", "&Statistics", "&Help"):
        assert title in titles


def mnemonics(menu: QWidget) -> Iterator[tuple[str, str]]:
    """(Title of a menu, underlined letter) of each entry of a menu and of those below it."""
    title = menu.title() if isinstance(menu, QMenu) else "bar"
    for action in menu.actions():
        at = action.text().replace("&&", "").find("&")
        if at >= 0:
            yield title, action.text().replace("&&", "")[at + 1].lower()
        inner = action.menu()
        if isinstance(inner, QMenu):
            inner.aboutToShow.emit()
            yield from mnemonics(inner)


def test_menus_are_spelled_as_wiresharks(opened: MainWindow) -> None:
    texts = " ".join(action.text() + action.statusTip() for action in opened.findChildren(QAction))
    assert "Coloring &Rules" in texts and "&Analyze" in texts
    assert "olour" not in texts and "nalyse" not in texts


def test_each_underlined_letter_of_a_menu_leads_to_one_entry(opened: MainWindow) -> None:
    workspace, details = opened.workspace, opened.findChild(DetailTree)
    assert isinstance(details, DetailTree)
    for menu in (
        opened.menuBar(),
        row_menu(opened, opened.menus.actions),
        workspace.table.header.menu_at(2),
        details.menu(details.topLevelItem(0)),
    ):
        assert menu is not None
        found = Counter(mnemonics(menu))
        assert len(found) > 2
        assert [entry for entry, count in found.items() if count > 1] == []


def test_the_entries_of_the_row_menu_that_have_sub_menus_have_letters(opened: MainWindow) -> None:
    entries = [
        action for action in row_menu(opened, opened.menus.actions).actions() if action.menu()
    ]
    assert len(entries) >= 5 and all("&" in action.text() for action in entries)
    filters = entries[0].menu()
    assert isinstance(filters, QMenu)
    assert all("&" in action.text() for action in filters.actions())


def test_names_in_the_table_are_unique() -> None:
    names = Counter(action.name for action in ACTIONS if action.text != LINE)
    assert [name for name, count in names.items() if count > 1] == []


def test_without_a_recording_only_what_makes_sense_can_be_done(
    window: MainWindow, qtbot: QtBot
) -> None:
    for action in ACTIONS:
        if action.text != LINE and action.fill is None:
            assert window.menus.actions[action.name].isEnabled() != action.needs_recording


def test_the_list_of_keys_is_made_from_the_table(window: MainWindow, qtbot: QtBot) -> None:
    QTest.keyClick(window, Qt.Key.Key_F1)
    dialog = window.findChild(KeyList)
    assert isinstance(dialog, KeyList) and dialog.isVisible()
    text = dialog.text.toPlainText()
    for action in ACTIONS:
        if action.keys:
            assert action.name in text
            assert QKeySequence(action.keys[0]).toString() in text
    dialog.close()


def test_actions_have_tips(window: MainWindow) -> None:
    assert window.menus.actions["Reload"].toolTip() == "Read the files again"
    assert window.menus.actions["Reload"].statusTip() == "Read the files again"


def test_text_grows_and_shrinks_by_keys_and_stays_so(opened: MainWindow, qtbot: QtBot) -> None:
    window, table = opened, opened.workspace.table
    usual, height = QApplication.font().pointSizeF(), table.verticalHeader().defaultSectionSize()
    QTest.keyClick(window, Qt.Key.Key_Plus, CONTROL)
    QTest.keyClick(window, Qt.Key.Key_Plus, CONTROL)
    QApplication.processEvents()
    assert QApplication.font().pointSizeF() == pytest.approx(usual * 1.21)
    assert table.verticalHeader().defaultSectionSize() > height
    assert QSettings().value("zoom") in (2, "2")
    QTest.keyClick(window, Qt.Key.Key_Minus, CONTROL)
    assert QApplication.font().pointSizeF() == pytest.approx(usual * 1.1)
    QTest.keyClick(window, Qt.Key.Key_Equal, CONTROL)
    QApplication.processEvents()
    assert QApplication.font().pointSizeF() == pytest.approx(usual)
    assert table.verticalHeader().defaultSectionSize() == height


def test_dark_and_light_are_chosen_and_kept(opened: MainWindow, qtbot: QtBot) -> None:
    lightness = {}
    for name in ("Dark", "Light"):
        opened.menus.actions[name].trigger()
        QApplication.processEvents()
        lightness[name] = opened.palette().color(QPalette.ColorRole.Base).lightness()
        model = opened.workspace.table.packets
        shown = model.data(model.index(4, 0), Qt.ItemDataRole.BackgroundRole).color()
        assert (shown.lightness() < 128) == (name == "Dark")
        assert {"Dark": "#4cc38a", "Light": "#1a7f4b"}[name] in opened.workspace.summary.text()
        assert opened.menus.actions[name].isChecked()
    assert lightness["Dark"] < 60 < 200 < lightness["Light"]
    assert QSettings().value("theme") == "LIGHT"


Start = Callable[[], MainWindow]


@pytest.fixture
def start(opened: MainWindow, qtbot: QtBot) -> Start:
    """Closes the window before and starts a new one, nothing open."""
    windows = [opened]

    def again() -> MainWindow:
        windows[-1].close()
        windows.append(MainWindow(opener))
        qtbot.addWidget(windows[-1])
        windows[-1].resize(1280, 800)
        with qtbot.waitExposed(windows[-1]):
            windows[-1].show()
        return windows[-1]

    return again


def test_panes_are_closed_from_the_menu_and_the_layout_is_kept(
    opened: MainWindow, start: Start, qtbot: QtBot
) -> None:
    opened.workspace.docks["timeline"].toggleViewAction().trigger()
    assert not opened.workspace.docks["timeline"].isVisible()
    window = start()
    open_and_wait(window, qtbot, "a.kbl", "a.pcap")
    assert not window.workspace.docks["timeline"].isVisible()
    window.workspace.restore_layout(None)
    assert window.workspace.docks["timeline"].isVisible()


def test_heights_of_panes_are_kept(opened: MainWindow, start: Start, qtbot: QtBot) -> None:
    tree = opened.workspace.docks["tree"]
    opened.workspace.resizeDocks([tree], [tree.height() - 130], Qt.Orientation.Vertical)
    QApplication.processEvents()
    height = tree.height()
    start()  # nothing opened: nothing changes
    window = start()
    open_and_wait(window, qtbot, "a.kbl", "a.pcap")
    assert window.workspace.docks["tree"].height() == height


def test_a_pane_that_floats_is_shown_with_a_recording_only(
    opened: MainWindow, start: Start, qtbot: QtBot
) -> None:
    opened.workspace.docks["tree"].setFloating(True)
    window = start()
    tree = window.workspace.docks["tree"]
    assert not tree.isVisible()
    open_and_wait(window, qtbot, "a.kbl", "a.pcap")
    assert tree.isFloating() and tree.isVisible()
    window.close_recording()
    assert not tree.isVisible()
    open_and_wait(window, qtbot, "a.kbl", "a.pcap")
    assert tree.isFloating() and tree.isVisible()


def test_f6_goes_around_the_panes(opened: MainWindow, qtbot: QtBot) -> None:
    workspace = opened.workspace
    for dock in workspace.docks.values():
        dock.show()  # also a pane that is closed at first
    assert workspace.table.hasFocus()
    seen = []
    for _ in range(2 + len(workspace.docks)):
        QTest.keyClick(opened, Qt.Key.Key_F6)
        focus = QApplication.focusWidget()
        assert focus is not None
        seen.append(focus)
    assert seen[-1] is workspace.table
    assert workspace.filter_bar.edit in seen
    for dock in workspace.docks.values():
        assert any(dock.isAncestorOf(widget) for widget in seen)
    QTest.keyClick(opened, Qt.Key.Key_F6, SHIFT)
    assert QApplication.focusWidget() is seen[-2]


def test_letters_in_the_list_do_not_move_the_timeline(opened: MainWindow) -> None:
    before = opened.workspace.timeline.window_ns()
    for letter in "wasd":
        QTest.keyClicks(opened.workspace.table, letter)
        opened.workspace.table.setFocus()
    assert opened.workspace.timeline.window_ns() == before


def test_whatever_can_be_used_has_a_name(opened: MainWindow) -> None:
    unnamed = [
        widget
        for kind in (QAbstractItemView, QComboBox, QLineEdit, QAbstractButton)
        for widget in opened.findChildren(kind)
        if widget.isVisible() and not _name(widget) and not _inner(widget)
    ]
    assert [(type(w).__name__, w.parent()) for w in unnamed] == []


def _name(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return widget.accessibleName() or text or widget.toolTip()


def _inner(widget: QWidget) -> bool:
    """Made by Qt inside a widget that has a name."""
    parent = widget.parentWidget()
    if isinstance(widget, QHeaderView) and parent is not None:
        return bool(parent.accessibleName())
    return widget.objectName().startswith("qt_") or "QTableCornerButton" in str(
        widget.metaObject().className()
    )


@pytest.mark.parametrize("key", [Qt.Key.Key_Tab, Qt.Key.Key_Backtab])
def test_tab_goes_around_what_can_be_seen(opened: MainWindow, key: Qt.Key) -> None:
    opened.workspace.table.setFocus()
    seen: list[QWidget] = []
    while True:
        widget = QApplication.focusWidget()
        assert widget is not None and not widget.visibleRegion().isEmpty()
        if widget in seen:
            break
        seen.append(widget)
        QTest.keyClick(widget, key)
    assert widget is seen[0]  # a round, nowhere stuck
    workspace = opened.workspace
    assert {workspace.table, workspace.tree, workspace.timeline, workspace.filter_bar.edit} <= set(
        seen
    )
    workspace.docks["detail"].raise_()
    QApplication.processEvents()
    workspace.table.setFocus()
    for _ in seen:
        widget = QApplication.focusWidget()
        assert widget is not None and widget is not workspace.tree
        QTest.keyClick(widget, key)


@pytest.mark.parametrize("name", ["Conversations", "Keys", "Coloring Rules", "Summary"])
def test_no_dialog_is_larger_than_the_screen(opened: MainWindow, name: str) -> None:
    before = set(QApplication.topLevelWidgets())
    opened.menus.actions[name].trigger()
    (made,) = [
        widget
        for widget in QApplication.topLevelWidgets()
        if widget not in before and widget.isVisible()
    ]
    scratch = opened.screen().availableSize()
    assert made.width() < scratch.width() and made.height() < scratch.height()
    made.close()


def test_the_summary_of_the_packet_ends_in_dots_where_room_lacks(opened: MainWindow) -> None:
    opened.workspace.table.go_to_row(6)
    summary = opened.workspace.summary
    summary.resize(1600, summary.height())
    whole = summary.text()
    assert "…" not in whole
    summary.resize(420, summary.height())
    assert "…" in summary.text()
    assert summary.toolTip().split("\n")[-1] in whole


def test_f6_leads_to_the_packets_headers_and_panes_have_a_name(opened: MainWindow) -> None:
    details = opened.findChild(DetailTree)
    assert isinstance(details, DetailTree)
    opened.workspace.tree.setFocus()
    QTest.keyClick(opened, Qt.Key.Key_F6)
    assert details.hasFocus() and not details.visibleRegion().isEmpty()
    assert {bar.accessibleName() for bar in opened.findChildren(QTabBar)} == {"Panes"}


def test_what_cannot_be_undone_is_not_offered(opened: MainWindow, qtbot: QtBot) -> None:
    undo, redo = (opened.menus.actions[name] for name in ("Undo", "Redo"))
    assert not undo.isEnabled() and not redo.isEnabled()
    opened.menus.actions["Mark/Unmark Packet"].trigger()
    assert undo.isEnabled() and not redo.isEnabled()
    undo.trigger()
    assert not undo.isEnabled() and redo.isEnabled()
    opened.close_recording()
    assert not undo.isEnabled() and not redo.isEnabled()


def test_tips_of_the_lists_menu_do_not_stay_in_the_status_bar(
    opened: MainWindow, qtbot: QtBot
) -> None:
    table = opened.workspace.table
    table.customContextMenuRequested.emit(QPoint(5, 5))
    (menu,) = (child for child in opened.findChildren(QMenu) if child.isVisible())
    QTest.keyClick(menu, Qt.Key.Key_Down)
    assert opened.statusBar().currentMessage()
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    assert not opened.statusBar().currentMessage()


def test_colours_of_conversations_are_shown_in_the_menu(window: MainWindow) -> None:
    for number in range(1, 11):
        assert not window.menus.actions[f"Color {number}"].icon().isNull()

# SPDX-License-Identifier: MIT
"""The display filter's line, typed into with keys and clicked with the mouse."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QFocusEvent, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QMenu, QWidget
from pytestqt.qtbot import QtBot

from skbviewer.gui.base.theme import dark_palette, light_palette
from skbviewer.gui.filters import saved_filters
from skbviewer.gui.filters.filter_bar import PAUSE_MS, FilterBar
from skbviewer.gui.filters.filter_dialogs import ButtonDialog, FieldList
from skbviewer.gui.filters.filter_edit import INVALID, VALID

KNOWN = {"kbl.func": ["ip_rcv", "udp_queue_rcv_skb", "udp_rcv"], "kbl.comm": ["my prog", "sshd"]}
KEY = Qt.Key
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def bar(qtbot: QtBot) -> FilterBar:
    bar = FilterBar()
    bar.set_known(lambda field: KNOWN.get(field, []))
    qtbot.addWidget(bar)
    bar.resize(900, 60)
    with qtbot.waitExposed(bar):
        bar.show()
    bar.setFocus()
    return bar


def ground(bar: FilterBar) -> str:
    return bar.edit.palette().color(QPalette.ColorRole.Base).name()


def type_text(bar: FilterBar, qtbot: QtBot, text: str) -> None:
    for letter in text:  # as typed: the popup of the letter before may be open
        QTest.keyClicks(bar.edit, letter)


def test_enter_applies_a_valid_filter(bar: FilterBar, qtbot: QtBot) -> None:
    type_text(bar, qtbot, "tcp.port == 80")
    with qtbot.waitSignal(bar.applied) as signal:
        QTest.keyClick(bar.edit, KEY.Key_Return)
    assert signal.args == ["tcp.port == 80"]
    assert not bar.edit.popup.isVisible()


def test_the_popup_chooses_nothing_by_itself(bar: FilterBar, qtbot: QtBot) -> None:
    type_text(bar, qtbot, "tcp or arp")
    assert bar.edit.popup.isVisible()
    QApplication.sendEvent(bar.edit.popup, QFocusEvent(QEvent.Type.FocusIn))  # as X11 does
    with qtbot.waitSignal(bar.applied) as signal:
        QTest.keyClick(bar.edit.popup, KEY.Key_Return)
    assert signal.args == ["tcp or arp"]


def test_green_and_red(bar: FilterBar, qtbot: QtBot) -> None:
    empty = ground(bar)
    type_text(bar, qtbot, "tcp")
    assert ground(bar) == VALID[0]
    type_text(bar, qtbot, " ==")
    assert ground(bar) == INVALID[0]
    assert "a field or a value" in bar.edit.toolTip()
    bar.set_text("")
    assert ground(bar) == empty and bar.edit.toolTip() == ""


def test_colours_follow_a_dark_palette(bar: FilterBar, qapp: QApplication) -> None:
    bar.set_text("tcp")
    before = qapp.palette()
    qapp.setPalette(dark_palette())
    try:
        qapp.processEvents()
        assert ground(bar) == VALID[1]
        bar.set_text("tcp ==")
        assert ground(bar) == INVALID[1]
        for pair in (VALID, INVALID):
            text = dark_palette().color(QPalette.ColorRole.Text)
            assert text.lightness() - QColor(pair[1]).lightness() > 120
            text = light_palette().color(QPalette.ColorRole.Text)
            assert QColor(pair[0]).lightness() - text.lightness() > 120
    finally:
        qapp.setPalette(before)


def test_the_arrow_of_the_history_is_seen_on_dark_ground(
    bar: FilterBar, qapp: QApplication
) -> None:
    before = qapp.palette()
    qapp.setPalette(dark_palette())
    try:
        qapp.processEvents()
        image = bar.recent.grab().toImage()
        pixels = [QPoint(x, y) for x in range(image.width()) for y in range(image.height())]
        assert max(image.pixelColor(at).lightness() for at in pixels) > 150
    finally:
        qapp.setPalette(before)


def test_an_invalid_filter_is_not_applied_but_explained(bar: FilterBar, qtbot: QtBot) -> None:
    type_text(bar, qtbot, "ip.srx == 10.0.0.1")
    with qtbot.assertNotEmitted(bar.applied):
        QTest.keyClick(bar.edit, KEY.Key_Return)
    assert bar.error.isVisible()
    assert "did you mean ip.src?" in bar.error.text()
    assert "underline" in bar.error.text() and ">ip.srx<" in bar.error.text()
    assert bar.edit.cursorPosition() == 0
    assert bar.edit.hasFocus()


def test_an_error_is_shown_after_a_pause_and_goes_with_typing(bar: FilterBar, qtbot: QtBot) -> None:
    type_text(bar, qtbot, "tcp.prt ")
    assert not bar.error.isVisible()
    qtbot.waitUntil(bar.error.isVisible, timeout=PAUSE_MS * 5)
    type_text(bar, qtbot, "x")
    assert not bar.error.isVisible()


def test_completion_of_a_field_by_keys(bar: FilterBar, qtbot: QtBot) -> None:
    type_text(bar, qtbot, "kbl.fun")
    assert bar.edit.popup.isVisible()
    QTest.keyClick(bar.edit.popup, KEY.Key_Down)  # kbl.func, before kbl.functions
    with qtbot.assertNotEmitted(bar.applied):
        QTest.keyClick(bar.edit.popup, KEY.Key_Return)
    assert bar.text() == "kbl.func"
    assert not bar.edit.popup.isVisible()


def test_completion_of_a_value(bar: FilterBar, qtbot: QtBot) -> None:
    type_text(bar, qtbot, "kbl.func == udp")
    model = bar.edit.popup.model()
    shown = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert shown == ["udp_queue_rcv_skb", "udp_rcv"]
    QTest.keyClick(bar.edit.popup, KEY.Key_Down)
    QTest.keyClick(bar.edit.popup, KEY.Key_Tab)
    assert bar.text() == "kbl.func == udp_queue_rcv_skb"


def test_a_value_with_a_space_is_quoted(bar: FilterBar, qtbot: QtBot) -> None:
    type_text(bar, qtbot, "kbl.comm == my")
    QTest.keyClick(bar.edit.popup, KEY.Key_Down)
    QTest.keyClick(bar.edit.popup, KEY.Key_Return)
    assert bar.text() == 'kbl.comm == "my prog"'


def test_down_offers_everything(bar: FilterBar, qtbot: QtBot) -> None:
    QTest.keyClick(bar.edit, KEY.Key_Down)
    assert bar.edit.popup.isVisible()
    assert bar.edit.popup.model().rowCount() > 100
    QTest.keyClick(bar.edit.popup, KEY.Key_Escape)
    assert not bar.edit.popup.isVisible()


def test_escape_takes_back_what_was_not_applied(bar: FilterBar, qtbot: QtBot) -> None:
    bar.apply_text("udp")
    type_text(bar, qtbot, " && x")
    QTest.keyClick(bar.edit, KEY.Key_Escape)
    if bar.text() != "udp":  # the first Escape closed the popup
        QTest.keyClick(bar.edit, KEY.Key_Escape)
    assert bar.text() == "udp"


def test_clear_shows_everything(bar: FilterBar, qtbot: QtBot) -> None:
    assert not bar.clear_action.isVisible()
    bar.apply_text("udp")
    assert bar.clear_action.isVisible()
    with qtbot.waitSignal(bar.applied) as signal:
        bar.clear_action.trigger()
    assert signal.args == [""] and bar.text() == ""


def test_recent_filters_are_kept_without_doubles(bar: FilterBar, qtbot: QtBot) -> None:
    for text in ("udp", "tcp", "udp", ""):
        bar.apply_text(text)
    assert saved_filters.recent() == ["udp", "tcp"]
    menu = bar.recent.menu()
    menu.aboutToShow.emit()
    with qtbot.waitSignal(bar.applied) as signal:
        menu.actions()[1].trigger()
    assert signal.args == ["tcp"]
    menu.aboutToShow.emit()
    menu.actions()[-1].trigger()
    assert saved_filters.recent() == []


def test_one_recent_filter_survives_the_settings(bar: FilterBar) -> None:
    bar.apply_text("tcp")
    assert saved_filters.recent() == ["tcp"]


def child(bar: FilterBar, kind: type[QWidget]) -> QWidget:
    return next(widget for widget in bar.findChildren(kind) if widget.isVisible())


def test_a_button_is_added_used_and_removed(bar: FilterBar, qtbot: QtBot) -> None:
    bar.set_text("kbl.drop_reason")
    QTest.mouseClick(bar.add, LEFT)
    dialog = child(bar, ButtonDialog)
    assert isinstance(dialog, ButtonDialog)
    save = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
    assert not save.isEnabled()  # it has no label yet
    QTest.keyClicks(dialog.label, "Drops & more")
    QTest.mouseClick(save, LEFT)
    bar.apply_text("")
    action = bar.saved.actions()[0]
    button = bar.saved.widgetForAction(action)
    with qtbot.waitSignal(bar.applied) as signal:
        QTest.mouseClick(button, LEFT)
    assert signal.args == ["kbl.drop_reason"]
    assert saved_filters.buttons() == [saved_filters.Saved("Drops & more", "kbl.drop_reason")]
    button.customContextMenuRequested.emit(button.rect().center())
    menu = next(m for m in bar.findChildren(QMenu) if m.isVisible())
    menu.actions()[1].trigger()
    menu.close()
    assert saved_filters.buttons() == [] and not bar.saved.isVisible()


def test_a_button_with_an_invalid_filter_cannot_be_saved(bar: FilterBar, qtbot: QtBot) -> None:
    bar.set_text("tcp ==")
    QTest.mouseClick(bar.add, LEFT)
    dialog = child(bar, ButtonDialog)
    assert isinstance(dialog, ButtonDialog)
    QTest.keyClicks(dialog.label, "Broken")
    assert not dialog.buttons.button(QDialogButtonBox.StandardButton.Save).isEnabled()
    dialog.reject()


def test_the_field_list_inserts_at_the_cursor(bar: FilterBar, qtbot: QtBot) -> None:
    bar.set_text("tcp && ")
    QTest.mouseClick(bar.expression, LEFT)
    dialog = child(bar, FieldList)
    assert isinstance(dialog, FieldList)
    QTest.keyClicks(dialog.search, "drop_reason")
    QTest.keyClick(dialog.search, KEY.Key_Return)
    assert bar.text() == "tcp && kbl.drop_reason"


def test_everything_has_an_accessible_name(bar: FilterBar) -> None:
    for widget in (bar.edit, bar.recent, bar.add, bar.saved, bar.error, bar.edit.popup):
        assert widget.accessibleName()
    assert bar.expression.text()

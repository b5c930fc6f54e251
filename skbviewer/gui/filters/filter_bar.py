# SPDX-License-Identifier: MIT
"""The display filter bar: input line, recent filters, saved buttons, error text.

The filter bar does not know the packet list.  The owner of the bar connects to `applied`, and
provides the texts that fields can have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QColor, QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QStyle,
    QToolBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from skbviewer.analysis.display_filter import FilterError

from ..base.theme import DROP_COLOURS, arrow, is_dark
from . import saved_filters as memory
from .filter_dialogs import ButtonDialog, FieldList
from .filter_edit import FilterEdit

PAUSE_MS = 800  # pause in typing before an error is shown
LONGEST = 60  # characters of a filter in a menu


class FilterBar(QWidget):
    """The bar of the display filter.

    `applied` carries the text of a valid filter; "" shows everything.
    """

    applied = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.edit = FilterEdit()
        self.edit.setPlaceholderText("Apply a display filter … (Ctrl+/)")
        self.edit.setAccessibleName("Display filter")
        self.setFocusProxy(self.edit)
        self._applied = ""
        self._make_edit_actions()
        self.error = QLabel()
        self.error.setAccessibleName("Filter error")
        self.error.setTextFormat(Qt.TextFormat.RichText)
        self.error.setWordWrap(True)
        self.error.hide()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._show_error_when_typed)
        self.recent = self._tool("Recent filters", self._fill_recent)
        self.recent.setIcon(arrow(self.palette(), down=True))
        self.recent.setStyleSheet("QToolButton::menu-indicator { image: none; }")  # one arrow
        self.saved = QToolBar()
        self.saved.setIconSize(QSize(16, 16))
        self.saved.setAccessibleName("Saved display filters")
        self._lay_out()
        self.edit.checked.connect(self._changed)
        self.edit.entered.connect(self.apply)
        self.show_buttons()

    def _make_edit_actions(self) -> None:
        """Make the buttons inside the input line: clear and apply."""
        place = FilterEdit.ActionPosition.TrailingPosition
        clear = self.style().standardIcon(QStyle.StandardPixmap.SP_LineEditClearButton)
        self.clear_action = QAction(clear, "Clear the filter", self)
        self.apply_action = QAction(arrow(self.palette()), "Apply the filter (Enter)", self)
        for action, done in ((self.clear_action, self.clear), (self.apply_action, self.apply)):
            self.edit.addAction(action, place)
            action.triggered.connect(done)
        self.clear_action.setVisible(False)
        self.apply_action.setVisible(False)

    def _tool(self, name: str, fill: Callable[[QMenu], None]) -> QToolButton:
        button = QToolButton()
        button.setToolTip(name)
        button.setAccessibleName(name)
        button.setAutoRaise(True)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        menu.aboutToShow.connect(lambda: fill(menu))
        button.setMenu(menu)
        return button

    def _lay_out(self) -> None:
        self.expression = QToolButton()
        self.expression.setText("Expression…")
        self.expression.setToolTip("List all fields and their meanings")
        self.add = QToolButton()
        self.add.setText("+")
        self.add.setToolTip("Add a button for this filter")
        self.add.setAccessibleName("Add a button for this filter")
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self.edit, 1)
        row.addWidget(self.recent)
        for button in (self.expression, self.add):
            button.setAutoRaise(True)
            row.addWidget(button)
        row.addWidget(self.saved)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 3, 6, 3)
        column.setSpacing(2)
        column.addLayout(row)
        column.addWidget(self.error)
        self.expression.clicked.connect(self.choose_field)
        self.add.clicked.connect(lambda: self.edit_button(None))

    def set_known(self, known: Callable[[str], Sequence[str]]) -> None:
        """Set the function that returns the texts of a field; completion offers them."""
        self.edit.known = known

    def text(self) -> str:
        """Return the text in the input line, even if it is not a valid filter."""
        return self.edit.text()

    def set_text(self, text: str) -> None:
        """Put a filter into the input line without applying it."""
        self.edit.setText(text)

    def show_applied(self, text: str) -> None:
        """Show in the input line a filter that is already applied."""
        self._applied = text
        self.set_text(text)

    def apply(self) -> None:
        """Apply the filter in the input line; if it is invalid, show the error."""
        if self.edit.error is not None:
            self.show_error()
            self.edit.setCursorPosition(self.edit.error.position)
            return
        self._applied = self.edit.text().strip()
        memory.remember(self._applied)
        self.apply_action.setVisible(False)
        self.applied.emit(self._applied)

    def apply_text(self, text: str) -> None:
        """Put a filter into the input line, and apply it."""
        self.set_text(text)
        self.apply()

    def clear(self) -> None:
        """Clear the filter, so that all packets are shown."""
        self.apply_text("")
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text() != self._applied:
            self.set_text(self._applied)
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.apply_action.setIcon(arrow(self.palette()))
            self.recent.setIcon(arrow(self.palette(), down=True))

    def _changed(self) -> None:
        self.error.hide()
        self._pause.stop()
        if self.edit.error is not None:
            self._pause.start()
        text = self.text().strip()
        self.clear_action.setVisible(bool(self.text()))
        self.apply_action.setVisible(self.edit.error is None and text != self._applied)

    def _show_error_when_typed(self) -> None:
        """Show the error, unless completions are open: then the word may be unfinished."""
        if self.edit.popup.isVisible():
            self._pause.start()
        else:
            self.show_error()

    def show_error(self) -> None:
        """Show the error in the filter, and where it is."""
        self._pause.stop()
        if self.edit.error is not None:
            colour = DROP_COLOURS[is_dark(self.palette())]
            self.error.setText(_error_text(self.edit.error, colour))
            self.error.show()

    def fall_back(self, why: str, applied: str) -> None:
        """Show that the filter in the input line could not run, for the reason `why`.

        `applied` is the filter that is still applied.
        """
        self._applied = applied
        self.edit.fail(why)
        self.apply_action.setVisible(True)
        still = f"<code>{escape(applied)}</code> is still applied"
        rest = still if applied else "no filter is applied"
        self.error.setText(f"{escape(why)}. This filter was not applied: {rest}.")
        self.error.show()

    def refuse(self, error: FilterError) -> None:
        """Show an error that was found only while the filter ran."""
        self.error.setText(_error_text(error, DROP_COLOURS[is_dark(self.palette())]))
        self.error.show()

    def _fill_recent(self, menu: QMenu) -> None:
        menu.clear()
        found = memory.recent()
        for text in found:
            action = menu.addAction(_short(text))
            action.triggered.connect(lambda _=False, text=text: self.apply_text(text))
        if not found:
            menu.addAction("No recent filters").setEnabled(False)
            return
        menu.addSeparator()
        menu.addAction("Clear recent filters").triggered.connect(memory.forget_recent)

    def choose_field(self) -> None:
        """Open the list of all fields; the chosen field is inserted at the cursor."""
        dialog = FieldList(self)
        dialog.chosen.connect(self._insert)
        self._open(dialog)

    def _insert(self, name: str) -> None:
        self.edit.insert(name)
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_buttons(self) -> None:
        """Rebuild the buttons of the saved filters."""
        self.saved.clear()
        for place, saved in enumerate(memory.buttons()):
            action = self.saved.addAction(saved.label.replace("&", "&&"))
            action.setToolTip(saved.text)
            action.triggered.connect(lambda _=False, text=saved.text: self.apply_text(text))
            button = self.saved.widgetForAction(action)
            button.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            button.customContextMenuRequested.connect(
                lambda at, place=place, button=button: self._button_menu(place, button, at)
            )
        self.saved.setVisible(bool(memory.buttons()))

    def _button_menu(self, place: int, button: QWidget, at: QPoint) -> None:
        menu = QMenu(self)
        menu.addAction("Edit…").triggered.connect(lambda: self.edit_button(place))
        menu.addAction("Remove").triggered.connect(lambda: self.remove_button(place))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(button.mapToGlobal(at))

    def edit_button(self, place: int | None) -> None:
        """Ask for the label and filter of button number `place`; None means a new button."""
        new = memory.Saved("", self.text().strip())
        dialog = ButtonDialog(new if place is None else memory.buttons()[place], self)
        dialog.filter.known = self.edit.known
        dialog.kept.connect(lambda saved: self._keep(saved, place))
        self._open(dialog)

    def _keep(self, saved: memory.Saved, place: int | None) -> None:
        memory.save_button(saved, place)
        self.show_buttons()

    def remove_button(self, place: int) -> None:
        """Remove button number `place`."""
        memory.remove_button(place)
        self.show_buttons()

    def _open(self, dialog: FieldList | ButtonDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()


def _error_text(error: FilterError, colour: str) -> str:
    """Return rich text: the filter, in which the error is marked, and the error message."""
    text, begin = error.text, error.position
    end = begin + max(error.length, 1)
    marked = escape(text[begin:end]) or "&nbsp;"
    place = (
        f'<span style="color:{QColor(colour).name()}; text-decoration:underline">{marked}</span>'
    )
    shown = f"{escape(text[max(begin - 30, 0) : begin])}{place}{escape(text[end : end + 30])}"
    return f"<code>{shown}</code>&nbsp;&nbsp;{escape(error.message)}"


def _short(text: str) -> str:
    shown = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return shown.replace("&", "&&")

# SPDX-License-Identifier: MIT
"""The input line of a display filter: green or red, with completion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QStringListModel, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPalette
from PySide6.QtWidgets import QApplication, QCompleter, QLineEdit, QListView, QWidget

from skbviewer.analysis.display_filter import Completion, FilterError, complete, parse

from ..base.theme import is_dark

VALID = ("#afffaf", "#173a24")  # light theme as in Wireshark, dark theme
INVALID = ("#ffafaf", "#4f1d22")
POPUP_ROWS = 12
PALETTE_CHANGES = (QEvent.Type.PaletteChange, QEvent.Type.ApplicationPaletteChange)


class _Words(QListView):
    """A list of completions in which no word is selected at first.

    Qt would select the first word when the popup gets the focus.
    """

    def focusInEvent(self, event: QFocusEvent) -> None:
        chosen = self.currentIndex().isValid()
        super().focusInEvent(event)
        if not chosen:
            self.choose_none()

    def choose_none(self) -> None:
        """Select no word, so that Enter applies the filter, and Down goes to the first word."""
        self.selectionModel().clearCurrentIndex()


class FilterEdit(QLineEdit):
    """Checks and completes the text.  `error` is the error in the text, None if it is valid.

    `checked` is emitted after every change of the text.  `entered` is emitted on Enter, even if
    the text is invalid.
    """

    checked = Signal()
    entered = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.error: FilterError | None = None
        self.known: Callable[[str], Sequence[str]] = lambda field: ()  # texts that a field can have
        self._colouring = False
        self._failed = False
        self._proposal = Completion(0, 0, ())
        self._words = QStringListModel(self)
        self._completer = QCompleter(self._words, self)
        self._completer.setWidget(self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setMaxVisibleItems(POPUP_ROWS)
        self.popup = _Words()
        self.popup.setAccessibleName("Completions of the display filter")
        self._completer.setPopup(self.popup)
        self._completer.activated.connect(self._insert)
        self.textChanged.connect(self._check)
        self.textEdited.connect(lambda: self.propose())

    def propose(self, all_words: bool = False) -> None:
        """Offer completions at the cursor.

        If `all_words` is set, completions are also offered where nothing has been typed yet.
        """
        cursor = self.cursorPosition()
        found = complete(self.text(), cursor, self.known)
        typed = self.text()[found.begin : found.end].lstrip('"')
        wanted = bool(typed) or found.values or all_words
        if not wanted or not found.words or found.words == (typed,):
            self.popup.hide()
            return
        self._proposal = found
        self._words.setStringList(found.words)
        self._completer.complete()
        self.popup.choose_none()  # the completer selected the first word

    def _insert(self, word: str) -> None:
        begin, end = self._proposal.begin, self._proposal.end
        text = self.text()
        if text[end : end + 1] == '"' and word.endswith('"'):
            end += 1
        self.setText(text[:begin] + word + text[end:])
        self.setCursorPosition(begin + len(word))

    def fail(self, why: str) -> None:
        """Show that the filter is valid, but could not run, for the reason `why`.

        The reason is shown until the text changes.
        """
        self._failed = True
        self.setToolTip(why)
        self._colour()

    def _check(self) -> None:
        self._failed = False
        try:
            parse(self.text())
            self.error = None
        except FilterError as error:
            self.error = error
        self.setToolTip(self.error.message if self.error else "")
        self._colour()
        self.checked.emit()

    def _colour(self) -> None:
        """Set only the background: the palette's text is readable on each of these colours."""
        self._colouring = True
        palette = QPalette()
        if self.text().strip():
            pair = INVALID if self.error or self._failed else VALID
            palette.setColor(QPalette.ColorRole.Base, QColor(pair[is_dark(QApplication.palette())]))
        self.setPalette(palette)
        self._colouring = False

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in PALETTE_CHANGES and not self._colouring:
            self._colour()

    def event(self, event: QEvent) -> bool:
        """Let the Tab key accept the selected completion, or else the first completion.

        Qt would move the focus.
        """
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Tab
            and self.popup.isVisible()
        ):
            row = max(self.popup.currentIndex().row(), 0)
            self.popup.hide()
            self._insert(self._proposal.words[row])
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        enter = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if self.popup.isVisible() and enter:
            if self.popup.currentIndex().isValid():
                event.ignore()  # the completer inserts the chosen word
                return
            self.popup.hide()
        if enter:
            self.entered.emit()
            return
        if key == Qt.Key.Key_Space and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.propose(all_words=True)
            return
        if key == Qt.Key.Key_Down and not self.popup.isVisible():
            self.propose(all_words=True)
            return
        super().keyPressEvent(event)

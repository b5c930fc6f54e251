# SPDX-License-Identifier: MIT
"""The Find Packet bar below the filter.  Esc closes it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QFrame, QHBoxLayout, QLineEdit, QPushButton

from .find_packet import BadSearch, Search, What, Where, check


class FindBar(QFrame):
    """Emits `find_asked` with a Search and a direction: 1 (next) or -1 (previous)."""

    find_asked = Signal(object, int)
    failed = Signal(str)
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("find")
        self.where = QComboBox()
        self.where.addItems([where.value for where in Where])
        self.where.setAccessibleName("Where to search")
        self.case = QCheckBox("Case sensitive")
        self.what = QComboBox()
        self.what.addItems([what.value for what in What])
        self.what.setCurrentText(What.STRING.value)
        self.what.setAccessibleName("What to search for")
        self.line = QLineEdit()
        self.line.setAccessibleName("Text to search for")
        self.line.setClearButtonEnabled(True)
        self.button = QPushButton("Find")
        self.button.setToolTip("Find next: Enter, Ctrl+N. Find previous: Shift+Enter, Ctrl+B.")
        self.cancel = QPushButton("Close")
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 3, 6, 3)
        for widget in (self.where, self.case, self.what):
            row.addWidget(widget)
        row.addWidget(self.line, 1)
        row.addWidget(self.button)
        row.addWidget(self.cancel)
        self.button.clicked.connect(lambda: self.ask(1))
        self.cancel.clicked.connect(self.leave)
        self.what.currentTextChanged.connect(self._adapt)
        self._adapt(self.what.currentText())
        self.hide()

    def begin(self) -> None:
        """Show the bar and focus its text."""
        self.show()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    def leave(self) -> None:
        """Hide the bar and emit `closed`."""
        self.hide()
        self.closed.emit()

    def search(self) -> Search:
        """Return the search that the user typed."""
        what, where = What(self.what.currentText()), Where(self.where.currentText())
        return Search(self.line.text(), what, where, self.case.isChecked())

    def ask(self, step: int) -> None:
        """Search for the next (`step` 1) or previous (-1) match; without a text, show the bar."""
        if not self.line.text():
            self.begin()
            return
        try:
            check(self.search())
        except BadSearch as error:
            self.failed.emit(f"Find Packet: {error}")
        else:
            self.find_asked.emit(self.search(), step)

    def _adapt(self, what: str) -> None:
        texts = what in (What.STRING.value, What.REGEX.value)
        self.where.setEnabled(texts)
        self.case.setEnabled(texts)
        self.line.setPlaceholderText(
            {
                What.FILTER.value: "tcp.port == 443 && kbl.drop_reason",
                What.HEX.value: "de ad be ef",
                What.REGEX.value: "ACK.*Win=0",
            }.get(what, "Text to find")
        )

    # Qt's own names

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self.ask(-1 if shift else 1)
        else:
            super().keyPressEvent(event)

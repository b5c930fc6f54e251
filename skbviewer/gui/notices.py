# SPDX-License-Identifier: MIT
"""Two lines above the content: what is wrong or missing, and how far long work is."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

BAR_STEPS = 1000
_GROUND = {
    "error": ("#fde7e9", "#5a0d16"),
    "hint": ("#fff4d6", "#4a3800"),
}


class Banner(QFrame):
    """One clear line that stays until closed or replaced; hidden while empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        close = QPushButton("✕")
        close.setFlat(True)
        close.setFixedWidth(28)
        close.setAccessibleName("Close this message")
        close.clicked.connect(self.clear)
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 4, 4, 4)
        line.addWidget(self._text, 1)
        line.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    @property
    def text(self) -> str:
        return self._text.text()

    def tell(self, text: str, kind: str) -> None:
        """Show `text`; kind is "error" or "hint"."""
        ground, ink = _GROUND[kind]
        self.setStyleSheet(
            f"#banner {{ background: {ground}; }} QLabel, QPushButton {{ color: {ink}; }}"
        )
        self._text.setText(text)
        self.show()

    def clear(self) -> None:
        self._text.clear()
        self.hide()


class WorkBar(QFrame):
    """How far the running work is, and Cancel; hidden while none runs."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = QLabel()
        self.bar = QProgressBar()
        self.bar.setTextVisible(True)
        self.button = QPushButton("Cancel")
        self.button.clicked.connect(self.cancelled)
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 6, 8, 6)
        line.addWidget(self._text)
        line.addWidget(self.bar, 1)
        line.addWidget(self.button)
        self.hide()

    def begin(self, title: str) -> None:
        self._text.setText(title)
        self.bar.setRange(0, 0)
        self.show()

    def show_progress(self, what: str, done: int, total: int) -> None:
        """`done` of `total` units of `what`; a total of 0 is unknown."""
        self._text.setText(what)
        self.bar.setRange(0, BAR_STEPS if total else 0)
        self.bar.setValue(done * BAR_STEPS // total if total else 0)

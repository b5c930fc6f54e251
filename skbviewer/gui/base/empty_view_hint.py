# SPDX-License-Identifier: MIT
"""A hint in place of rows, in views that are empty."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QAbstractItemView, QLabel, QVBoxLayout


class EmptyText(QLabel):
    """Covers an empty view.  Clicks pass through."""

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view.viewport())
        self._view = view
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        whole = QVBoxLayout(view.viewport())
        whole.setContentsMargins(12, 12, 12, 12)
        whole.addWidget(self)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show `text`; "" hides it."""
        self.setText(text)
        self.setVisible(bool(text))
        self._view.setAccessibleDescription(text)

# SPDX-License-Identifier: MIT
"""A text in the status bar.

If there is not enough space, the label leaves out whole parts of its text.
"""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel

from ..base.status_text import BETWEEN


class StatusLabel(QLabel):
    """A label in the status bar; its tooltip and accessible description have the whole text."""

    def __init__(self) -> None:
        super().__init__()
        self._whole = ""

    def show_text(self, text: str) -> None:
        """Show a text whose parts are joined by BETWEEN; the last parts are left out if need be."""
        self._whole = text
        self.setToolTip(text)
        self.setAccessibleDescription(text)
        self._fit()
        self.updateGeometry()

    def _fit(self) -> None:
        parts = self._whole.split(BETWEEN)
        text = self._whole
        while len(parts) > 1 and self._width(text) > self.width():
            parts.pop()
            text = BETWEEN.join((*parts, "…"))
        if text != self.text():
            self.setText(text)

    def _width(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text)

    # Qt's own names

    def sizeHint(self) -> QSize:
        return QSize(self._width(self._whole) + 2, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

# SPDX-License-Identifier: MIT
"""Keep windows no larger than the screen on which they open."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME = QSize(10, 40)  # maximum size of a window manager's decoration


def open_at(window: QWidget, width: int, height: int) -> None:
    """Resize a window to this size in pixels, or as large as the screen allows."""
    parent = window.parentWidget()
    screen = (window if parent is None else parent).screen()
    window.resize(QSize(width, height).boundedTo(screen.availableSize() - FRAME))

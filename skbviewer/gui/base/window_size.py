# SPDX-License-Identifier: MIT
"""Keep windows no larger than the screen on which they open."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME = QSize(10, 40)  # maximum size of a window manager's decoration


def open_at(window: QWidget, width: int, height: int) -> None:
    """Resize `window` to `width` x `height` pixels, or to the screen if that is smaller."""
    parent = window.parentWidget()
    screen = (window if parent is None else parent).screen()
    window.resize(QSize(width, height).boundedTo(screen.availableSize() - FRAME))

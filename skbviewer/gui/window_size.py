# SPDX-License-Identifier: MIT
"""Windows no larger than the screen they open on."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME = QSize(10, 40)  # what a window manager puts around a window, at most


def open_at(window: QWidget, width: int, height: int) -> None:
    """Make a window that large in pixels, if the screen has the room."""
    parent = window.parentWidget()
    screen = (window if parent is None else parent).screen()
    window.resize(QSize(width, height).boundedTo(screen.availableSize() - FRAME))

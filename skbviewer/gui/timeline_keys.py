# SPDX-License-Identifier: MIT
"""The keys that act while the timeline has focus, in one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from .timeline_axes import ZOOM_STEP

if TYPE_CHECKING:
    from .timeline_view import TimelineView

NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
Act = Callable[["TimelineView"], object]

KEYS: dict[tuple[Qt.Key, Qt.KeyboardModifier], tuple[str, Act]] = {
    (Qt.Key.Key_W, NONE): ("zoom in", lambda v: v.box.zoom(ZOOM_STEP)),
    (Qt.Key.Key_S, NONE): ("zoom out", lambda v: v.box.zoom(1 / ZOOM_STEP)),
    (Qt.Key.Key_A, NONE): ("move left", lambda v: v.box.pan(-0.15)),
    (Qt.Key.Key_D, NONE): ("move right", lambda v: v.box.pan(0.15)),
    (Qt.Key.Key_F, NONE): ("show everything", lambda v: v.fit()),
    (Qt.Key.Key_Z, NONE): ("zoom to what is selected", lambda v: v.zoom_to_selection()),
    (Qt.Key.Key_M, NONE): ("write a note on what is selected", lambda v: v.ask_note()),
    (Qt.Key.Key_Period, NONE): ("next call", lambda v: v.step_call(1)),
    (Qt.Key.Key_Comma, NONE): ("previous call", lambda v: v.step_call(-1)),
    (Qt.Key.Key_A, SHIFT): ("marker A to the pointer", lambda v: v.activate_marker("A")),
    (Qt.Key.Key_B, SHIFT): ("marker B to the pointer", lambda v: v.activate_marker("B")),
    (Qt.Key.Key_Escape, NONE): ("select no range", lambda v: v.choose_range(None)),
}

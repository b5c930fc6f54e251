# SPDX-License-Identifier: MIT
"""The keys that act while the timeline has the focus, in one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from .time_axis import ZOOM_STEP, TimeBox

NONE = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


class Keyed(Protocol):
    """The object on which the keys act: the timeline."""

    @property
    def box(self) -> TimeBox:
        """Return the view box."""

    def fit(self) -> None:
        """Show everything."""

    def zoom_to_selection(self) -> None:
        """Show the selected range, the range of the markers, or the packet."""

    def ask_note(self) -> None:
        """Ask for a note on the selected range, call or packet."""

    def step_call(self, by: int) -> None:
        """Select the next call (1) or the previous one (-1)."""

    def activate_marker(self, letter: str) -> None:
        """Make a marker active, and move it to the pointer."""

    def ask_keys(self) -> None:
        """Ask the window to list the keys."""

    def choose_range(self, times: tuple[int, int] | None) -> None:
        """Select a range of session time; None selects none."""


Act = Callable[[Keyed], object]

KEYS: dict[tuple[int, Qt.KeyboardModifier], tuple[str, Act]] = {
    (Qt.Key.Key_W, NONE): ("Zoom in", lambda v: v.box.zoom(ZOOM_STEP)),
    (Qt.Key.Key_S, NONE): ("Zoom out", lambda v: v.box.zoom(1 / ZOOM_STEP)),
    (Qt.Key.Key_A, NONE): ("Move left", lambda v: v.box.pan(-0.15)),
    (Qt.Key.Key_D, NONE): ("Move right", lambda v: v.box.pan(0.15)),
    (Qt.Key.Key_F, NONE): ("Show everything", lambda v: v.fit()),
    (Qt.Key.Key_Z, NONE): ("Zoom to the selection", lambda v: v.zoom_to_selection()),
    (Qt.Key.Key_M, NONE): ("Write a note on the selection", lambda v: v.ask_note()),
    (Qt.Key.Key_Period, NONE): ("Next call", lambda v: v.step_call(1)),
    (Qt.Key.Key_Comma, NONE): ("Previous call", lambda v: v.step_call(-1)),
    (Qt.Key.Key_A, SHIFT): ("Move marker A to the pointer", lambda v: v.activate_marker("A")),
    (Qt.Key.Key_B, SHIFT): ("Move marker B to the pointer", lambda v: v.activate_marker("B")),
    (Qt.Key.Key_Question, SHIFT): ("List the keys", lambda v: v.ask_keys()),
    (Qt.Key.Key_Escape, NONE): ("Clear the selected range", lambda v: v.choose_range(None)),
}

MOUSE: tuple[tuple[str, str], ...] = (
    ("Ctrl+wheel, Shift+wheel", "Zoom at the pointer, move"),
    ("Drag", "Select a range: the list shows its packets"),
    ("Shift+drag, middle drag", "Move"),
    ("Right drag", "Zoom to the box"),
    ("Double click", "Set the active marker; on a note: edit it; on the ruler: show everything"),
    ("Right click", "On a box: filter, select, source, copy; elsewhere: remove the active marker"),
)


def rows() -> tuple[tuple[str, str], ...]:
    """Return (keys, their action), as the list of keys shows them."""
    listed = []
    for (key, modifier), (text, _) in KEYS.items():
        name = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
        listed.append((f"{'Shift+' if modifier == SHIFT else ''}{name}", text))
    return (*listed, *MOUSE)

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
        """Return the view box, which zooms and pans."""

    def fit(self) -> None:
        """Zoom out until everything is visible."""

    def zoom_to_selection(self) -> None:
        """Show the selected range, or else the range between the markers, or else the packet."""

    def ask_note(self) -> None:
        """Ask for a note on the selected range, or else on the call, or else on the packet."""

    def step_call(self, by: int) -> None:
        """Select the next call (`by` 1) or the previous call (-1)."""

    def activate_marker(self, letter: str) -> None:
        """Make the marker `letter` ("A" or "B") active, and move it to the pointer."""

    def ask_keys(self) -> None:
        """Ask the window to show the list of keys."""

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
    ("Drag", "Select a time range; the list shows the packets in this range"),
    ("Shift+drag, middle drag", "Move"),
    ("Right drag", "Zoom to the box"),
    (
        "Double click",
        "Set the active marker; on a note: edit the note; on the ruler: show the whole recording",
    ),
    (
        "Right click",
        "On a box: menu to filter, select, copy and see the source; elsewhere: remove the active "
        "marker",
    ),
)


def rows() -> tuple[tuple[str, str], ...]:
    """Return (keys, what they do) for each line of the list of keys."""
    listed = []
    for (key, modifier), (text, _) in KEYS.items():
        name = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
        listed.append((f"{'Shift+' if modifier == SHIFT else ''}{name}", text))
    return (*listed, *MOUSE)

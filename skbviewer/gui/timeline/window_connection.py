# SPDX-License-Identifier: MIT
"""Connect the timeline with the window: range filter, undo of notes, errors, export."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QInputDialog

from skbviewer.analysis.timeline.lanes import PACKET_KINDS
from skbviewer.analysis.timeline.shown_part import Shown

from ..base.wording import seconds
from ..filters.range_filter import RangeFilter
from ..packets.packet_rows import of_packet
from .markers_and_range import SELECTED

if TYPE_CHECKING:
    from ..window.main_window import MainWindow


def attach(window: MainWindow) -> None:
    """Connect the timeline to the window's filter, undo stack and banner."""
    view = window.workspace.timeline
    ranges = RangeFilter(
        lambda: window.row_query.filter, lambda text: window.selection.filter_asked.emit(text, True)
    )
    view.range_finished.connect(lambda times: ranges.select(window.recording, times))
    view.filter_asked.connect(window.selection.filter_asked)
    view.source_asked.connect(window.selection.source_asked)
    view.keys_asked.connect(window.show_keys)
    view.failed.connect(lambda line: window.banner.show_text(line, "error"))
    view.notes.push = window.notes.push
    view.notes.put_comment = lambda number, text: _comment(window, number, text)


def _comment(window: MainWindow, number: int, text: str) -> None:
    if window.recording is not None:
        window.notes.put_comment(of_packet(window.recording.packets(number, 1)[0]), text)


def ask_range(window: MainWindow) -> None:
    """Ask for the time range to show, in seconds as in the command line's --range."""
    view = window.workspace.timeline
    zero = view.zero_ns()
    now = ", ".join(seconds(at - zero) for at in view.window_ns())
    prompt = "From, to: seconds since the recording began"
    if view.mode.is_relative:
        prompt = "From, to: seconds since each packet's first function call"
    text, wrong, chosen = now, "", True
    while chosen:  # until it is valid or cancelled, so that the typed text is kept
        label = f"{prompt}\n{wrong}" if wrong else prompt
        text, chosen = QInputDialog.getText(window, "Go to Time Range", label, text=text)
        found = range_of(text)
        if chosen and not isinstance(found, str):
            window.workspace.docks["timeline"].show()
            view.show_window(found[0] + zero, found[1] + zero)
            return
        wrong = str(found)


def range_of(text: str) -> tuple[int, int] | str:
    """Parse "0.5, 0.7" seconds into ns; return a message if it is invalid."""
    try:
        low, high = (round(Decimal(part.strip()) * 10**9) for part in text.split(","))
    except (ValueError, InvalidOperation, OverflowError):
        return f"Not two numbers separated by a comma: {text}"
    return (low, high) if low < high else f"It ends before it begins: {text}"


def shown_now(window: MainWindow) -> Shown | None:
    """Return what the timeline shows, for an export; None if it is empty."""
    view = window.workspace.timeline
    kind = view.kind.currentData()
    row = window.selection.row
    ids: tuple[int, ...] = ()
    if kind == SELECTED:
        if row is None:
            return None
        ids = (row.id,)
    elif kind in PACKET_KINDS:
        ids = view.lanes_mode.ids
    lanes = "packet" if kind == SELECTED else str(kind)
    state = view.state
    text = window.row_query.filter
    return Shown(lanes, ids, view.window_ns(), state.a, state.b, text, bool(ids))

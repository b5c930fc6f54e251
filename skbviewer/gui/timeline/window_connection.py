# SPDX-License-Identifier: MIT
"""Connect the timeline with the window: range filter, undo of notes, errors, export."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from PySide6.QtWidgets import QInputDialog, QWidget

from skbviewer.analysis.timeline.lanes import PACKET_KINDS
from skbviewer.analysis.timeline.shown_timeline_part import Shown

from ..base.messages import Messages
from ..base.wording import seconds
from ..filters.time_range_filter import RangeFilter
from ..packets.packet_rows import of_packet
from ..packets.row_marks_and_comments import Notes
from ..packets.row_query import RowQuery
from ..packets.selection import Selection
from .markers_and_range import SELECTED
from .timeline_view import TimelineView


def attach(
    view: TimelineView,
    selection: Selection,
    row_query: RowQuery,
    notes: Notes,
    messages: Messages,
) -> None:
    """Connect the timeline to the window's display filter, undo stack and banner."""
    ranges = RangeFilter(
        lambda: row_query.filter, lambda text: selection.filter_asked.emit(text, True)
    )
    view.range_finished.connect(lambda times: ranges.select(selection.recording, times))
    view.filter_asked.connect(selection.filter_asked)
    view.source_asked.connect(selection.source_asked)
    view.code_asked.connect(selection.code_asked)
    view.failed.connect(messages.error)
    view.notes.push = notes.push
    view.notes.put_comment = lambda number, text: _comment(selection, notes, number, text)


def _comment(selection: Selection, notes: Notes, number: int, text: str) -> None:
    if selection.recording is not None:
        notes.put_comment(of_packet(selection.recording.packets.numbered(number, 1)[0]), text)


def ask_range(window: QWidget, view: TimelineView, pane: QWidget) -> None:
    """Ask for the time range to show, in seconds, in the form of the option `--range`.

    `pane` contains the timeline; it is opened if it is closed.
    """
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
            pane.show()
            view.show_window(found[0] + zero, found[1] + zero)
            return
        wrong = str(found)


def range_of(text: str) -> tuple[int, int] | str:
    """Return a range such as "0.5, 0.7" (seconds) in ns; if it is invalid, return a message."""
    try:
        low, high = (round(Decimal(part.strip()) * 10**9) for part in text.split(","))
    except (ValueError, InvalidOperation, OverflowError):
        return f"Not two numbers separated by a comma: {text}"
    return (low, high) if low < high else f"The range ends before it begins: {text}"


def shown_now(view: TimelineView, selection: Selection, text: str) -> Shown | None:
    """Return what the timeline shows now, for an export; None if the timeline is empty.

    `text` is the applied display filter.
    """
    kind = view.kind.currentData()
    row = selection.row
    ids: tuple[int, ...] = ()
    if kind == SELECTED:
        if row is None:
            return None
        ids = (row.id,)
    elif kind in PACKET_KINDS:
        ids = view.lanes_mode.ids
    lanes = "packet" if kind == SELECTED else str(kind)
    state = view.state
    return Shown(lanes, ids, view.window_ns(), state.a, state.b, text, bool(ids))

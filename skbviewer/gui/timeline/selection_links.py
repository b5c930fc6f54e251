# SPDX-License-Identifier: MIT
"""Connect the timeline with the Selection."""

from __future__ import annotations

import numpy as np

from skbviewer.records import PacketRow
from skbviewer.session.kernel.call_positions_in_path import CallPlace

from ..base.recording_interface import Recording, RowIds
from ..packets.packet_rows import of_packet, of_series
from ..packets.selection import Selection
from .timeline_view import TimelineView


def follow(view: TimelineView, selection: Selection) -> None:
    """Connect `view` and `selection`, in both directions."""
    view.call_chosen.connect(selection.choose_call)
    view.range_selected.connect(selection.choose_range)
    view.call_located.connect(lambda place: choose_place(selection, place))
    view.packet_asked.connect(lambda number: choose_row(selection, number))
    view.notes_changed.connect(selection.notes_changed)
    selection.recording_changed.connect(lambda recording: _use(view, recording))
    selection.path_changed.connect(view.show_path)
    selection.call_changed.connect(view.show_call)
    selection.range_changed.connect(view.show_range)
    selection.visible_changed.connect(lambda rows: _show_visible(view, rows))
    selection.notes_changed.connect(view.show_notes)
    selection.colours_changed.connect(lambda colours, _dark: view.set_colours(colours))


def _use(view: TimelineView, recording: Recording | None) -> None:
    view.show_recording(recording)


def _show_visible(view: TimelineView, rows: RowIds | None) -> None:
    view.show_visible(() if rows is None else rows.tolist())


def choose_row(selection: Selection, number: int) -> None:
    """Go to row `number` (n for packet n, -n for K<n>) and select it, even if it is not listed."""
    selection.row_asked.emit(number)
    row, recording = selection.row, selection.recording
    if recording is not None and (row is None or row.id != number):
        (found,) = recording.packets.rows(np.array([number]))
        selection.choose_row(of_packet(found) if isinstance(found, PacketRow) else of_series(found))


def choose_place(selection: Selection, place: CallPlace) -> None:
    """Select the call at `place`, and the packet or row K<n> to which it belongs."""
    if place.row == 0:
        return
    if selection.row is None or selection.row.id != place.row:
        choose_row(selection, place.row)
    if place.row == place.packet or place.row < 0:
        selection.choose_call(place.leg, place.call)

# SPDX-License-Identifier: MIT
"""The timeline's part in the one Selection: what it follows, and what it tells."""

from __future__ import annotations

from skbviewer.session.timeline import CallPlace

from .contract import Recording, RowIds
from .packet_rows import of_packet
from .selection import Selection
from .timeline_view import TimelineView


def follow(view: TimelineView, selection: Selection) -> None:
    """Connect `view` to `selection`, both ways."""
    view.call_chosen.connect(selection.choose_call)
    view.range_selected.connect(selection.choose_range)
    view.call_located.connect(lambda place: _choose(selection, place))
    view.packet_asked.connect(lambda number: _choose_packet(selection, number))
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


def _choose_packet(selection: Selection, number: int) -> None:
    """Go to the packet's row; if the list does not show it, select it nevertheless."""
    selection.row_asked.emit(number)
    row = selection.row
    if selection.recording is not None and (row is None or row.packet != number):
        selection.choose_row(of_packet(selection.recording.packets(number, 1)[0]))


def _choose(selection: Selection, place: CallPlace) -> None:
    """Select a call and the packet it is of."""
    if place.packet is not None:
        if selection.path is None or selection.path.packet != place.path.packet:
            _choose_packet(selection, place.packet)
        selection.choose_call(place.leg, place.call)

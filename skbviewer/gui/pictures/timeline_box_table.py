# SPDX-License-Identifier: MIT
"""The table of the boxes that a picture of the timeline draws.  No Qt."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from skbviewer.export import Exportable, Request, write_timeline_csv

from ..base.recording_interface import Recording
from .timeline_layout import TimelineLayout


def write_timeline_table(recording: Exportable, request: Request, out: Path) -> None:
    """Write as CSV the boxes that a picture of the timeline with the same `request` would draw.

    Raises BadInput.
    """
    layout = TimelineLayout(cast(Recording, recording), request.shown, "csv")
    write_timeline_csv(layout.timeline, layout.bins(), layout.lines(), out)

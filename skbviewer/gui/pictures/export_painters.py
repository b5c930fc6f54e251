# SPDX-License-Identifier: MIT
"""The functions that write pictures, which need Qt, and the table of the boxes in a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from skbviewer.export import Export, Exportable, Request, Subject, Writer
from skbviewer.export.report import facts_of

from ..base.recording_interface import Recording
from .packet_picture import render_png
from .report_pictures import write_html, write_read
from .timeline_box_table import write_timeline_table
from .timeline_picture import write_timeline


def _paint_packet(recording: Exportable, request: Request, out: Path) -> None:
    """Write the annotated picture of a row.  Raises KeyError and BadInput."""
    looks = request.shown
    theme = "dark" if looks.dark else "light"
    row = 1 if request.row is None else request.row
    render_png(cast(Recording, recording), out, row, looks.size, looks.dpi, theme)


def _timeline(form: str) -> Writer:
    def write(recording: Exportable, request: Request, out: Path) -> None:
        write_timeline(cast(Recording, recording), request.shown, out, form)

    return write


PAINTERS: dict[tuple[str, Subject], Writer] = {
    ("png", Subject.PACKET): _paint_packet,
    ("png", Subject.TIMELINE): _timeline("png"),
    ("svg", Subject.TIMELINE): _timeline("svg"),
    ("html", Subject.PACKET): write_html,
    ("html", Subject.PACKETS): write_html,
    ("csv", Subject.TIMELINE): write_timeline_table,
}


# Formats of which a worker can read what they show, before this thread paints it.
READERS: dict[str, tuple[Callable[[Exportable, Request], Any], Callable[[Any, Path], None]]] = {
    "html": (facts_of, write_read),
}


def writer_of(export: Export, subject: Subject) -> Writer:
    """Return the function that writes an export of `subject` in the format `export`."""
    return export.write or PAINTERS[export.name, subject]

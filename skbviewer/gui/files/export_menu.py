# SPDX-License-Identifier: MIT
"""File > Export: ask for a file name, and write the selected packet to this file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from skbviewer.export import EXPORTS, Export, Request, Subject
from skbviewer.records import BadInput

from ..base.messages import Messages
from ..packets.selection import Selection
from ..pictures.export_painters import writer_of

# What the File menu offers for the selected packet.
OF_PACKET = tuple(export for export in EXPORTS if Subject.PACKET in export.subjects)


def ask(window: QWidget, export: Export, selection: Selection, messages: Messages) -> None:
    """Ask for a file name, and write the selected packet to this file in the format `export`."""
    row, recording = selection.row, selection.recording
    if row is None or recording is None:
        return
    title = export.menu.replace("&", "").rstrip("…")
    suffix = export.suffixes[0]
    proposal = f"packet-{row.number}{suffix}"
    name, _ = QFileDialog.getSaveFileName(window, title, proposal, f"*{suffix}")
    if not name:
        return
    try:
        writer_of(export, Subject.PACKET)(recording, Request(row.id), Path(name))
    except (BadInput, OSError) as error:
        messages.error(f"{title}: {error}")
    else:
        messages.say_written(name)

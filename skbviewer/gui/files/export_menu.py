# SPDX-License-Identifier: MIT
"""File > Export: ask for a name and write the selected packet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from skbviewer.export import EXPORTS, Export, Request, Subject
from skbviewer.records import BadInput

from ..pictures.export_painters import writer_of

if TYPE_CHECKING:
    from ..window.main_window import MainWindow

# What the File menu offers for the selected packet.
OF_PACKET = tuple(export for export in EXPORTS if Subject.PACKET in export.subjects)


def ask(window: MainWindow, export: Export) -> None:
    """Write the selected packet to a file whose name the user gives."""
    row = window.selection.row
    if row is None or window.recording is None:
        return
    title = export.menu.replace("&", "").rstrip("…")
    suffix = export.suffixes[0]
    proposal = f"packet-{row.number}{suffix}"
    name, _ = QFileDialog.getSaveFileName(window, title, proposal, f"*{suffix}")
    if not name:
        return
    try:
        writer_of(export, Subject.PACKET)(window.recording, Request(row.id), Path(name))
    except (BadInput, OSError) as error:
        window.banner.show_text(f"{title}: {error}", "error")
    else:
        window.statusBar().showMessage(f"Wrote {name}", 8000)

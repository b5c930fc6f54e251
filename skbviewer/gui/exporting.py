# SPDX-License-Identifier: MIT
"""File > Export PNG and Export CSV: ask for a name and write the selected packet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from skbviewer.records import BadInput

from .export_files import Export, write_csv, write_png

if TYPE_CHECKING:
    from .main_window import MainWindow


def ask_png(window: MainWindow) -> None:
    """Export the selected packet's path as an annotated picture."""
    _export(window, "Export PNG", "png", write_png)


def ask_csv(window: MainWindow) -> None:
    """Export the selected packet's path as a table."""
    _export(window, "Export CSV", "csv", write_csv)


def _export(window: MainWindow, title: str, suffix: str, write: Export) -> None:
    row = window.selection.row
    if row is None or window.recording is None:
        return
    proposal = f"packet-{row.number}.{suffix}"
    name, _ = QFileDialog.getSaveFileName(window, title, proposal, f"*.{suffix}")
    if not name:
        return
    try:
        write(window.recording, row, Path(name))
    except (BadInput, OSError) as error:
        window.banner.tell(f"{title}: {error}", "error")
    else:
        window.statusBar().showMessage(f"Wrote {name}", 8000)

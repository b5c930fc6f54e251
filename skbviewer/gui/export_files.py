# SPDX-License-Identifier: MIT
"""Export the selected packet as a picture or a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from skbviewer.export import write_path_csv

from .contract import Recording
from .packet_rows import ListRow
from .render import render_row

Export = Callable[[Recording, ListRow, Path], None]


def write_png(recording: Recording, row: ListRow, out: Path) -> None:
    """Write the annotated picture of `row`.  Raises BadInput if `out` cannot be written."""
    render_row(recording, row, out)


def write_csv(recording: Recording, row: ListRow, out: Path) -> None:
    """Write one line per call of `row`.  Raises BadInput if `out` cannot be written."""
    path = recording.path(packet=row.packet, series=row.series)
    write_path_csv(path, recording.sources(), out)

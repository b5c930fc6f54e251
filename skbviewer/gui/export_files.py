# SPDX-License-Identifier: MIT
"""What the Export menu writes: the selected packet as a picture or a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from skbviewer.export import write_path_csv

from .contract import Recording
from .packet_rows import ListRow
from .render import render_row

Export = Callable[[Recording, ListRow, Path], None]


def write_png(recording: Recording, row: ListRow, out: Path) -> None:
    """The annotated picture; BadInput if `out` cannot be written."""
    render_row(recording, row, out)


def write_csv(recording: Recording, row: ListRow, out: Path) -> None:
    """One line a call; BadInput if `out` cannot be written."""
    path = recording.path(packet=row.packet, series=row.series)
    write_path_csv(path, recording.sources(), out)

# SPDX-License-Identifier: MIT
"""The last view of the window: files, filter, order, row, zoom, columns.  Restored on demand."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from PySide6.QtCore import QSettings

_KEY = "last_view"


@dataclass(frozen=True)
class ViewState:
    """A view. Marks and notes are not part of the view: they are in the session."""

    files: tuple[str, ...]
    filter: str = ""
    order: tuple[str, bool] | None = None
    kernel_only: bool = False
    row: int = 0  # id of the current row, 0 = none
    columns: str = ""  # the text of column_state.write()
    lanes: str = ""  # kind of lanes in the timeline; "" = unknown
    zoom: tuple[int, int] = (0, 0)  # range of the timeline, from TimelineView.window_ns()
    time_format: str = ""
    precision: str = ""

    def paths(self) -> tuple[Path, ...]:
        """Return the files of the view as paths."""
        return tuple(Path(name) for name in self.files)


def save_view(state: ViewState) -> None:
    """Save `state` as the last view."""
    QSettings().setValue(_KEY, json.dumps(asdict(state)))


def last() -> ViewState | None:
    """Return the last view; None if there is none, or if another version's view cannot be read."""
    try:
        kept = json.loads(str(QSettings().value(_KEY, "")))
        state = ViewState(**kept)
    except (ValueError, TypeError):
        return None
    pair = state.order
    return ViewState(
        **{
            **kept,
            "files": tuple(state.files),
            "order": None if pair is None else (str(pair[0]), bool(pair[1])),
            "zoom": (int(state.zoom[0]), int(state.zoom[1])) if state.lanes else (0, 0),
        }
    )

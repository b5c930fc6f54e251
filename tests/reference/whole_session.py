# SPDX-License-Identifier: MIT
"""Compare one session with its log: all of its tables, then what commands and the window show."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from PySide6.QtWidgets import QApplication

from .clocks import of_clocks
from .compare import NO_TIME, Cell, Found, Made, compare, make
from .outputs import of_info, of_paths, of_statistics, of_tables, of_timeline
from .profiles import of_profiles
from .window_texts import WindowTexts


class Compared(NamedTuple):
    """What was compared: the tables, how many cells of outputs, and what differs in either."""

    tables: Found
    outputs: int
    lines: list[str]


def compared(log: Path, session: Path, folder: Path, paths: int) -> Compared:
    """Compare a session, and the paths of some packets; `folder` takes files of exports."""
    db = sqlite3.connect(session)
    db.row_factory = sqlite3.Row
    made = make(db, log)
    db.close()
    found = compare(session, log, made)
    outputs = list(_outputs(session, made, folder, paths))
    lines = [
        f"{what}: {shown}, should be {should}" for what, shown, should in outputs if shown != should
    ]
    return Compared(found, len(outputs), [*found.lines, *lines])


def share(found: Found, names: tuple[str, ...]) -> float:
    """Return what part of the time of all packets is in these, in percent."""
    return 100 * sum(found.ns[name] for name in names) / max(found.ns["kernel"], 1)


def unknown_share(found: Found) -> float:
    """Return what part of the time of all packets has no name, in percent."""
    return share(found, NO_TIME)


def _outputs(session: Path, made: Made, folder: Path, paths: int) -> Iterator[Cell]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = QApplication([])
    yield from of_info(session, made)
    yield from of_statistics(session, made)
    yield from of_tables(session, made)
    yield from of_paths(session, made, paths)
    yield from of_timeline(session, made, folder)
    yield from of_profiles(session, made, folder, paths)
    yield from of_clocks(session, made, any_pass=True)
    texts = WindowTexts(session, made)
    yield from texts.of_list()
    yield from texts.of_status()
    yield from texts.of_timeline()
    yield from texts.of_paths(paths)
    app.quit()

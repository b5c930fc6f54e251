# SPDX-License-Identifier: MIT
"""The recordings opened last.  One entry is a list of files that were opened together.

Missing files stay in the list: when they are opened, the user is asked where they are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSettings

KEPT = 10
_KEY = "recent"


def recent_files() -> list[tuple[Path, ...]]:
    """Return the lists of files that were opened together, the latest first."""
    text = str(QSettings().value(_KEY, "[]"))
    try:
        entries = json.loads(text)
    except ValueError:  # the settings file was edited by hand
        return []
    found = [tuple(Path(path) for path in entry) for entry in entries]
    return [entry for entry in found if entry]


def remember(paths: Sequence[Path]) -> None:
    """Put `paths`, which were opened together, at the top of the list of at most KEPT entries."""
    entry = tuple(Path(os.path.abspath(path)) for path in paths)  # without ".."
    entries = [entry, *(other for other in recent_files() if other != entry)][:KEPT]
    QSettings().setValue(_KEY, json.dumps([[str(path) for path in each] for each in entries]))


def forget_all() -> None:
    """Remove all entries from the list of recent files."""
    QSettings().remove(_KEY)


def label(entry: Sequence[Path]) -> str:
    """Return the text of an entry, such as "a.kbl + a.pcap   in ~/captures"."""
    names = " + ".join(path.name for path in entry)
    folder = entry[0].parent
    home = Path.home()
    place = f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
    return f"{names}   in {place}"

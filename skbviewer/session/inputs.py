# SPDX-License-Identifier: MIT
"""How a session is named in a command: by its own file, or by those it was made of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..records import SourceRow


def cache_folder() -> Path:
    """Where sessions are that nobody gave a name."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "skbviewer" / "sessions"


def words(file: Path, sources: Sequence[SourceRow]) -> tuple[str, ...]:
    """The files to open for the session `file`: if nobody saved it, its inputs.

    They are named as seen from the folder they share.
    """
    if file.absolute().parent != cache_folder().absolute():
        return (file.name,)
    paths = [source.path for source in sources]
    shared = os.path.commonpath([str(Path(path).parent) for path in paths])
    return tuple(os.path.relpath(path, shared) for path in paths)

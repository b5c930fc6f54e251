# SPDX-License-Identifier: MIT
"""Which files to open if some are open already: a capture and a kernel log are joined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..base.recording import Recording

KBL = "kbl"


def files_to_open(recording: Recording | None, paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return `paths`, preceded by the open files if these have only the kind that `paths` lack."""
    new = tuple(paths)
    if recording is None or any(path.suffix == ".skbv" for path in new):
        return new
    sources = recording.sources()
    open_kbl = {source.kind == KBL for source in sources}
    new_kbl = {path.suffix == f".{KBL}" for path in new}
    if len(open_kbl) != 1 or len(new_kbl) != 1 or open_kbl == new_kbl:
        return new
    return (*(Path(source.path) for source in sources), *new)

# SPDX-License-Identifier: MIT
"""A session under another name, and inputs that moved."""

from __future__ import annotations

from pathlib import Path

from ..records import BadInput, Progress, SourceRow
from ..store import copying
from .hashing import sha256


def save_as(file: Path, out: Path, progress: Progress) -> None:
    """Copy the session `file` to `out`, which appears when it is whole."""
    if file.absolute() != out.absolute():
        copying.copy_session(file, out, progress)


def relocate(file: Path, source: SourceRow, path: Path) -> None:
    """Keep in the session `file` that the input `source` is at `path` now."""
    if sha256(path) != source.sha256:
        name = Path(source.path).name
        raise BadInput(path, None, f"is not {name} as it was when the session was made")
    copying.set_path(file, source.id, path.absolute())

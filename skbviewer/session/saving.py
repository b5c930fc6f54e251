# SPDX-License-Identifier: MIT
"""Save a session under another name, and store the new paths of inputs that have moved."""

from __future__ import annotations

from pathlib import Path

from ..records import BadInput, Progress, SourceRow
from ..records.file_names import check_names
from ..store import session_copies
from .file_hash import sha256


def save_as(file: Path, out: Path, progress: Progress) -> None:
    """Copy the session `file` to `out`; `out` appears only when the copy is complete.

    Raises BadInput if the name `out` is not UTF-8.
    """
    check_names([out])
    if file.absolute() != out.absolute():
        session_copies.copy_session(file, out, progress)


def relocate(file: Path, source: SourceRow, path: Path) -> None:
    """Store in the session `file` that its input `source` is now at `path`.

    Raises BadInput if the file at `path` has a different content.
    """
    check_names([path])
    if sha256(path) != source.sha256:
        name = Path(source.path).name
        raise BadInput(path, None, f"has other contents than {name} had when the session was made")
    session_copies.set_path(file, source.id, path.absolute())

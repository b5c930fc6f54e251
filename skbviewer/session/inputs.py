# SPDX-License-Identifier: MIT
"""The files a session was made of: how a command names it, and whether they are as they were."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..records import BadInput, Progress, SourceRow
from ..store import inputs_of
from .hashing import sha256


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


def inputs_as_then(
    session: Path, progress: Progress | None = None, at: Sequence[Path] | None = None
) -> list[Path]:
    """The files that the session file was made of; `at` is where they are now, if not there.

    Raises BadInput if one is gone or has changed since, and Cancelled.
    """
    known = inputs_of(session)
    if not known:
        raise BadInput(session, None, "does not say which files it was made of")
    found = [path for path, _ in known] if at is None else list(at)
    for (name, hashed), path in zip(known, found, strict=True):
        if not path.is_file():
            raise BadInput(path, None, f"is not where it was when {session.name} was made")
        if sha256(path, progress) != hashed:
            why = f"is not {name.name} as it was when {session.name} was made"
            raise BadInput(path, None, why)
    return found

# SPDX-License-Identifier: MIT
"""The input files of a session: their names for commands, and whether they have changed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..records import BadInput, Progress, SourceRow
from ..store import inputs_of
from .file_hash import sha256


def cache_folder() -> Path:
    """Return the folder of sessions that the user has not saved under a name."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "skbviewer" / "sessions"


def words(file: Path, sources: Sequence[SourceRow]) -> tuple[str, ...]:
    """Return the words after a command's name that open the session `file`.

    For a session in the cache, the words are its inputs, relative to the folder that contains all
    of them.
    """
    if file.absolute().parent != cache_folder().absolute():
        return (file.name,)
    paths = [source.path for source in sources if not source.kind.is_of_log]
    shared = os.path.commonpath([str(Path(path).parent) for path in paths])
    return tuple(os.path.relpath(path, shared) for path in paths)


def inputs_as_then(
    session: Path, progress: Progress | None = None, at: Sequence[Path] | None = None
) -> list[Path]:
    """Return the paths of a session's input files, after a check that their contents are unchanged.

    If the files have moved, `at` are their new paths.  Raises BadInput if a file is missing or has
    changed since the import; raises Cancelled.
    """
    known = inputs_of(session)
    if not known:
        raise BadInput(session, None, "does not say from which files it was made")
    found = [path for path, _ in known] if at is None else list(at)
    for (name, hashed), path in zip(known, found, strict=True):
        if not path.is_file():
            raise BadInput(path, None, f"is not where it was when {session.name} was made")
        if sha256(path, progress) != hashed:
            why = f"has other contents than {name.name} had when {session.name} was made"
            raise BadInput(path, None, why)
    return found

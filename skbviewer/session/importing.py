# SPDX-License-Identifier: MIT
"""From input files to a session file, named by its inputs where the user names none."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .. import readers
from ..analysis import Input, store_inputs
from ..records import BadInput, Progress, Silent
from ..store import Builder, is_session, schema
from ..store.annotations import merge
from .memory import reused_memory
from .session import Session


class ImportResult(NamedTuple):
    """A finished import: the session file and what was wrong with the inputs."""

    path: Path
    warnings: tuple[str, ...]


def import_files(
    paths: Sequence[Path],
    out: Path,
    progress: Progress | None = None,
    keep: Sequence[Path] = (),
) -> ImportResult:
    """Read captures and KBLs, match them and write the session `out`.

    Replaces an older session of that name, whose annotations stay, and takes over those of the
    sessions `keep`.  Raises BadInput for unusable input or a full disk and
    Cancelled when `progress` says so; then `out` is as it was before.
    """
    watch: Progress = progress or Silent()
    if out.exists() and not is_session(out):
        raise BadInput(out, None, "exists and is not a session: not overwritten")
    with reused_memory():
        inputs = [_read(path, watch) for path in paths]
        with Builder(out, watch, keep) as builder:
            store_inputs(inputs, builder, watch)
            builder.finish()
    return ImportResult(out, tuple(w for item in inputs for w in item.data.warnings))


def _read(path: Path, progress: Progress) -> Input:
    data = readers.read(path, progress)
    return Input(data, path.stat().st_size, _sha256(path))


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(path, None, f"cannot read: {error.strerror}") from error


def cached_session(paths: Sequence[Path]) -> Path:
    """Where the session of these inputs lives if nobody saves it: named by the inputs' hashes."""
    tables = [(table.name, table.columns.keys()) for table in schema.metadata.sorted_tables]
    key = hashlib.sha256(f"schema {schema.SCHEMA_VERSION} {tables}".encode())
    for path in paths:
        key.update(f"{path.absolute()} {_sha256(path)}".encode())
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "skbviewer" / "sessions" / f"{key.hexdigest()[:32]}.skbv"


def _inputs(paths: Sequence[Path]) -> list[Path]:
    """`paths` with the inputs of sessions in their place, each once."""
    found: list[Path] = []
    for path in paths:
        if is_session(path):
            found.extend(Path(source.path) for source in Session.open(path).sources())
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def open_files(
    paths: Sequence[Path], progress: Progress | None = None, keep: Sequence[Path] = ()
) -> Session:
    """Open one session file, or import captures and KBLs (again only if they changed).

    A session among several files stands for its inputs and its annotations.  What is opened takes
    over the annotations of the sessions `keep`.
    """
    if len(paths) == 1 and is_session(paths[0]):
        return Session.open(paths[0])
    sessions = [path for path in paths if is_session(path)]
    paths, keep = _inputs(paths), [*sessions, *keep]
    cached = cached_session(paths)
    try:
        session = Session.open(cached)
    except BadInput:  # not there yet, or of another version
        cached.unlink(missing_ok=True)
    else:
        for old in keep:
            merge(cached, old)
        return session
    import_files(paths, cached, progress, keep)
    return Session.open(cached)

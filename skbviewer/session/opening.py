# SPDX-License-Identifier: MIT
"""Open files: a session directly, other inputs through a cached session that is made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..matching import RULES
from ..records import BadInput, Progress
from ..records.file_names import check_names
from ..store import is_session, schema
from ..store.annotation_tables import merge
from .file_hash import sha256
from .input_files import cache_folder
from .session import Session

SUFFIX = ".skbv"


def cached_session(paths: Sequence[Path], progress: Progress | None = None) -> Path:
    """Return the path of the cached session of the inputs `paths`, whether it exists or not.

    The name of the file is a hash of the inputs' paths and contents, of the schema of sessions, and
    of the number of the matching rules.  Raises BadInput and Cancelled.
    """
    tables = [(table.name, table.names) for table in schema.TABLES.values()]
    key = hashlib.sha256(f"schema {schema.SCHEMA_VERSION} rules {RULES} {tables}".encode())
    for path in paths:
        key.update(f"{path.absolute()} {sha256(path, progress)}".encode())
    folder = cache_folder()
    with suppress(OSError):  # writing the session reports what is wrong
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"{key.hexdigest()[:32]}.skbv"


def _inputs(paths: Sequence[Path]) -> list[Path]:
    """Return `paths` with the inputs of sessions instead of these sessions, each path once."""
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
    """Open `paths`: one session file, or captures and KBLs.

    Captures and KBLs are imported, if their session is not in the cache.

    If there are several files, a session among them stands for its input files and its annotations.
    The annotations of the sessions `keep` are copied into the opened session.  Raises BadInput and
    Cancelled.
    """
    check_names(paths)
    for path in paths:
        if path.suffix == SUFFIX and not is_session(path):
            return Session.open(path)  # raises BadInput with the reason
    if len(paths) == 1 and is_session(paths[0]):
        return Session.open(paths[0])
    sessions = [path for path in paths if is_session(path)]
    paths, keep = _inputs(paths), [*sessions, *keep]
    cached = cached_session(paths, progress)
    try:
        session = Session.open(cached)
    except BadInput:  # missing, or of another version
        cached.unlink(missing_ok=True)
    else:
        for old in keep:
            merge(cached, old)
        return session
    from .importing import import_files  # slow to import

    import_files(paths, cached, progress, keep)
    return Session.open(cached)

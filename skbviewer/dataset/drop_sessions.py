# SPDX-License-Identifier: MIT
"""`dataset drop`: remove the sessions that ended before a time."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ..records import BadInput
from . import session_manifests, session_writer
from .dataset_paths import check
from .session_manifests import Manifest


def time_ns(text: str) -> int:
    """Parse a date or time, which is UTC unless it names a zone; return ns since 1970.

    Raises KeyError.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise KeyError(f"{text}: expected a time such as 2026-11-21 or 2026-11-21T18:00") from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86400 + since.seconds) * 10**9 + since.microseconds * 1000


def drop(folder: Path, before_ns: int) -> list[Manifest]:
    """Remove the sessions that ended before `before_ns` (since 1970); return their manifests.

    A session is gone as soon as its manifest is removed. If a query is reading the session at that
    moment, the query fails with an error; no query misses only a part of a session. Raises
    BadInput.
    """
    check(folder)  # before a lock is made in it
    try:
        with session_manifests.manifest_lock(folder):
            found = [each for each in session_manifests.read_all(folder) if each.end_ns < before_ns]
            for each in found:
                session_manifests.place_of(folder, each.key).unlink()
        for each in found:
            session_writer.remove_tables(folder, each)
        session_writer.clean(folder)
    except OSError as error:
        raise BadInput(folder, None, f"cannot remove: {error.strerror or error}") from error
    return found

# SPDX-License-Identifier: MIT
"""`dataset open`: make a session from the input files of several sessions of a dataset.

A dataset has no packet bytes and no records. A session can only be made from the original files,
which must not have been moved or changed. The files are imported completely, because a lifetime may
begin before the range, and the verdicts of a cut log would be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..records import BadInput, Progress
from ..session.file_hash import sha256
from . import session_manifests
from .session_manifests import Manifest, Original


def sessions_of(folder: Path, host: str, begin_ns: int, end_ns: int) -> list[Manifest]:
    """Return the sessions of `host` that overlap a range of time (ns since 1970).

    Raises BadInput if there is no such session.
    """
    found = session_manifests.read_all(folder)
    meant = [each for each in found if each.host == host and _overlaps(each, begin_ns, end_ns)]
    if not meant:
        hosts = ", ".join(sorted({each.host for each in found})) or "none"
        raise BadInput(folder, None, f"has no session of host {host} in this range; hosts: {hosts}")
    return meant


def _overlaps(manifest: Manifest, begin_ns: int, end_ns: int) -> bool:
    return manifest.begin_ns <= end_ns and manifest.end_ns >= begin_ns


def original_files(folder: Path, sessions: Sequence[Manifest], progress: Progress) -> list[Path]:
    """Return the original files of `sessions`, each file once.

    Raises BadInput, with a line for each file that is missing or has changed, and Cancelled if the
    user cancels.
    """
    originals = {each.sha256: each for one in sessions for each in one.originals}.values()
    lost = _missing(list(originals), progress)
    if lost:
        raise BadInput(folder, None, "\n".join(["cannot make the session:", *lost]))
    return [Path(each.path) for each in originals]


def _missing(originals: Sequence[Original], progress: Progress) -> list[str]:
    found = []
    for each in originals:
        path = Path(each.path)
        if not path.is_file():
            found.append(f"{path}: is not where it was, sha256 {each.sha256}")
        elif path.stat().st_size != each.size or sha256(path, progress) != each.sha256:
            found.append(f"{path}: has changed since, sha256 was {each.sha256}")
    return found

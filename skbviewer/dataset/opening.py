# SPDX-License-Identifier: MIT
"""`dataset open`: make a session of one host and a range of time, anew from the originals.

A dataset has no bytes and no records, so a session can only be made from the files that it was made
of.  They must be where they were, with the same content.  They are imported whole: a lifetime may
begin before the range, and a cut log would make its verdicts wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..records import BadInput, Progress
from ..session import ImportResult, import_files
from ..session.file_hash import sha256
from . import manifests
from .manifests import Manifest, Original


def originals_of(folder: Path, host: str, begin_ns: int, end_ns: int) -> list[Original]:
    """Return the originals of the sessions of `host` that overlap a range of time (ns since 1970).

    Raises BadInput if there is none.
    """
    found = manifests.read_all(folder)
    meant = [each for each in found if each.host == host and _overlaps(each, begin_ns, end_ns)]
    if not meant:
        hosts = ", ".join(sorted({each.host for each in found})) or "none"
        raise BadInput(folder, None, f"has no session of host {host} in this range; hosts: {hosts}")
    return list({each.sha256: each for one in meant for each in one.originals}.values())


def _overlaps(manifest: Manifest, begin_ns: int, end_ns: int) -> bool:
    return manifest.begin_ns <= end_ns and manifest.end_ns >= begin_ns


def missing(originals: Sequence[Original], progress: Progress) -> list[str]:
    """Return a line for each original that is not there, or has changed.  Raises Cancelled."""
    found = []
    for each in originals:
        path = Path(each.path)
        if not path.is_file():
            found.append(f"{path}: is not where it was, sha256 {each.sha256}")
        elif path.stat().st_size != each.size or sha256(path, progress) != each.sha256:
            found.append(f"{path}: has changed since, sha256 was {each.sha256}")
    return found


def open_range(
    folder: Path, host: str, times: tuple[int, int], out: Path, progress: Progress
) -> ImportResult:
    """Make the session `out` of the sessions of `host` that overlap `times`, ns since 1970.

    Raises BadInput, with a line for each original that is missing, and Cancelled.
    """
    originals = originals_of(folder, host, *times)
    lost = missing(originals, progress)
    if lost:
        raise BadInput(folder, None, "\n".join(["cannot make the session:", *lost]))
    return import_files([Path(each.path) for each in originals], out, progress)

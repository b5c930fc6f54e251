# SPDX-License-Identifier: MIT
"""`dataset open`: make a session of one host and a range of time from the original input files.

A dataset has no bytes and no records, so a session can be made only from the files from which its
sessions were made. These must be where they were, with the same content. They are imported whole: a
lifetime may begin before the range, and verdicts from a cut log would be wrong.
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
    """Return the input files of the sessions of `host` that overlap a range of time.

    Times are ns since 1970. Raises BadInput if there is no such session.
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
    """Return a line for each input file that was moved or has changed. Raises Cancelled."""
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

    Raises Cancelled, and BadInput with a line for each input file that is missing.
    """
    originals = originals_of(folder, host, *times)
    lost = missing(originals, progress)
    if lost:
        raise BadInput(folder, None, "\n".join(["cannot make the session:", *lost]))
    return import_files([Path(each.path) for each in originals], out, progress)

# SPDX-License-Identifier: MIT
"""Select the files to open if some are open already: a capture and a kernel log are joined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skbviewer.readers import suffixes

from ..base.recording_interface import Recording

LOGS = suffixes(logs=True)


def files_to_open(recording: Recording | None, paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files to open when the user asks for `paths`.

    If `paths` has only captures and the open files are only kernel logs, or the reverse, the result
    begins with the open files, so that all of them are opened together. Otherwise, the result is
    `paths`.
    """
    new = tuple(paths)
    if recording is None or any(path.suffix == ".skbv" for path in new):
        return new
    sources = recording.sources()
    open_log = {source.kind.is_log for source in sources}
    new_log = {path.suffix in LOGS for path in new}
    if len(open_log) != 1 or len(new_log) != 1 or open_log == new_log:
        return new
    return (*(Path(source.path) for source in sources), *new)

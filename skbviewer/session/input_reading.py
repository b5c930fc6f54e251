# SPDX-License-Identifier: MIT
"""Read the inputs of an import, one at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .. import readers
from ..analysis.ingest.input_file_rows import Input
from ..records import KernelLog, Progress, SourceKind, scratch_of
from .file_hash import FileHash
from .memory_reuse import give_back, keep_less


class Unread(NamedTuple):
    """One source, which is read when it is needed.  `read` raises BadInput and Cancelled."""

    kind: SourceKind
    read: Callable[[], Input]


class Reading:
    """Reads input files; large arrays are stored in files in `folder`."""

    def __init__(self, progress: Progress, folder: Path) -> None:
        self._progress, self._folder = progress, folder
        self._begun = False

    def __call__(self, path: Path) -> Input:
        # Only between inputs: the kernel clears each returned page before it is used again.
        if self._begun:
            give_back()
        self._begun = True
        hashed = FileHash()
        data = readers.read(path, self._progress, self._folder, hashed)
        if scratch_of(data.records if isinstance(data, KernelLog) else data.packets).in_files:
            keep_less()
        return Input(data, path.stat().st_size, hashed.of(path, self._progress))

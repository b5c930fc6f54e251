# SPDX-License-Identifier: MIT
"""Import input files into a session file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from .. import readers
from ..analysis import Input, Unread, store_inputs
from ..records import BadInput, KernelLog, Progress, Silent, scratch_of
from ..store import Builder, is_session
from .file_hash import sha256
from .input_files import inputs_as_then
from .memory_reuse import give_back, keep_less, reused_memory


class ImportResult(NamedTuple):
    """A finished import: the session file, and the warnings about its inputs."""

    path: Path
    warnings: tuple[str, ...]


def import_files(
    paths: Sequence[Path],
    out: Path,
    progress: Progress | None = None,
    keep: Sequence[Path] = (),
) -> ImportResult:
    """Read captures and KBLs, match them and write the session `out`.

    An older session of that name is replaced, but its annotations are kept.  The annotations of the
    sessions `keep` are copied, too.  A session among `paths` stands for its inputs, which must not
    have changed, and for its annotations.

    Raises BadInput for unusable input or a full disk, and Cancelled when `progress` asks for it.
    `out` is unchanged then.
    """
    watch: Progress = progress or Silent()
    if out.exists() and not is_session(out):
        raise BadInput(out, None, "exists and is not a session: not overwritten")
    sessions = [path for path in paths if is_session(path)]
    if sessions:
        paths, keep = _without_sessions(paths, watch), [*sessions, *keep]
    with reused_memory():
        read = _Reading(watch, out.absolute().parent)
        inputs = [Unread(readers.is_log(path), partial(read, path)) for path in paths]
        with Builder(out, watch, keep) as builder:
            warnings = store_inputs(inputs, builder, watch)
            builder.finish()
    return ImportResult(out, warnings)


def _without_sessions(paths: Sequence[Path], progress: Progress) -> list[Path]:
    """Return `paths` with sessions replaced by their inputs, without duplicates."""
    found: list[Path] = []
    for path in paths:
        found += inputs_as_then(path, progress) if is_session(path) else [path.absolute()]
    return list(dict.fromkeys(found))


class _Reading:
    """Reads input files, one at a time."""

    def __init__(self, progress: Progress, folder: Path) -> None:
        self._progress, self._folder = progress, folder
        self._begun = False

    def __call__(self, path: Path) -> Input:
        # Only between inputs: the kernel clears each returned page before it is used again.
        if self._begun:
            give_back()
        self._begun = True
        data = readers.read(path, self._progress, self._folder)
        if scratch_of(data.records if isinstance(data, KernelLog) else data.packets).in_files:
            keep_less()
        return Input(data, path.stat().st_size, sha256(path, self._progress))

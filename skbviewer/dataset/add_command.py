# SPDX-License-Identifier: MIT
"""The command `dataset add`: group files, clean up after killed processes, run a task per pair."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from ..records import Progress
from . import dask_cluster, session_manifests
from .add_task import Outcome
from .dataset_paths import make
from .file_groups import pairs_of
from .session_writer import clean


def add_all(
    folder: Path,
    words: Sequence[str],
    jobs: int,
    scheduler: str,
    progress: Progress,
    inner: bool = True,
) -> Iterator[Outcome]:
    """Add files to the dataset `folder`, which is created if it does not exist.

    Yields the outcome of each pair. `jobs` is the number of local workers; `scheduler` is the
    address of a Dask cluster that is used instead, or "". If not `inner`, the tables leave out the
    calls of functions without an skb. Raises BadInput if `folder` or `scheduler` cannot be used,
    and Cancelled if the user cancels.
    """
    folder = folder.absolute()
    make(folder)
    clean(folder)
    yield from dask_cluster.run(folder, pairs_of(words), jobs, scheduler, progress, inner)


def repeat_warnings(folder: Path, sessions: Collection[str]) -> list[str]:
    """Return a warning for each input file of `sessions` that is also part of another session."""
    having: dict[str, list[str]] = {}
    paths: dict[str, str] = {}
    for manifest in session_manifests.read_all(folder):
        for original in manifest.originals:
            having.setdefault(original.sha256, []).append(manifest.session)
            paths[original.sha256] = original.path
    return [
        f"{paths[content]}: counts {len(listed)} times, in {_named(list(dict.fromkeys(listed)))}"
        for content, listed in having.items()
        if len(listed) > 1 and not set(sessions).isdisjoint(listed)
    ]


def _named(sessions: Sequence[str]) -> str:
    return f"{'session' if len(sessions) == 1 else 'the sessions'} {', '.join(sessions)}"

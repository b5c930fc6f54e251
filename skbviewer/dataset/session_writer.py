# SPDX-License-Identifier: MIT
"""Write one session into a private folder, publish it, and remove files of killed writers.

Each writer holds a lock on a file of its own. When the process ends, for whatever reason, the
kernel releases the lock. A process that gets another writer's lock therefore knows that this writer
has ended.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from . import session_manifests
from .dataset_paths import MANIFESTS, TABLES, UNFINISHED, WRITING, sync
from .session_manifests import Manifest

SUFFIX = ".lock"


class Writer(NamedTuple):
    """A running writer: `token` is in the names of its files, `work` is its private folder."""

    folder: Path
    token: str
    work: Path


@contextmanager
def writer(folder: Path) -> Iterator[Writer]:
    """Yield a new writer of a dataset, whose private folder is removed at the end."""
    token = secrets.token_hex(8)
    lock = folder / WRITING / f"{token}{SUFFIX}"
    with _held(lock):
        made = Writer(folder, token, folder / WRITING / token)
        made.work.mkdir()
        try:
            yield made
        finally:
            shutil.rmtree(made.work, ignore_errors=True)
            lock.unlink(missing_ok=True)


@contextmanager
def _held(lock: Path) -> Iterator[IO[str]]:
    """Make a lock file and lock it; try again if a cleaning process removed it in between."""
    while True:
        with lock.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is(lock, file):
                yield file
                return


def _is(path: Path, file: IO[str]) -> bool:
    with suppress(FileNotFoundError):
        return path.stat().st_ino == os.fstat(file.fileno()).st_ino
    return False


def publish(made: Writer, manifest: Manifest) -> bool:
    """Move the tables of a writer to their final paths; then write the manifest that names them.

    In the private folder, the files of a table are called TABLE-0.parquet, TABLE-1.parquet, ...

    Returns False, and changes nothing, if another writer has published this session in the
    meantime. Files of an older session of the same input files are removed. Raises OSError.
    """
    try:
        for table in manifest.tables:
            for number, file in enumerate(manifest.files(table)):
                _move(made.work / f"{table}-{number}.parquet", made.folder / file)
        before = _name(made.folder, manifest)
    finally:
        now = session_manifests.read(session_manifests.place_of(made.folder, manifest.key))
        published = now is not None and now.token == made.token
        if not published:
            remove_tables(made.folder, manifest)
    if published and before is not None:
        remove_tables(made.folder, before)
    return published


def _name(folder: Path, manifest: Manifest) -> Manifest | None:
    """Write `manifest`, unless an equal one exists, with all the files that it names.

    Returns the earlier manifest of the same inputs, or None.
    """
    with session_manifests.manifest_lock(folder):
        before = session_manifests.read(session_manifests.place_of(folder, manifest.key))
        is_there = before is not None and before.session == manifest.session
        if not before or not is_there or session_manifests.damaged_file(folder, before):
            session_manifests.write(folder, manifest)
    return before


def _move(written: Path, place: Path) -> None:
    sync(written)
    for last in (False, True):
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(written, place)
            break
        except FileNotFoundError:  # another process removed the empty folder
            if last:
                raise
    sync(place.parent)


def remove_tables(folder: Path, manifest: Manifest) -> None:
    """Remove the files that an old manifest names, and the folders that become empty."""
    for table in manifest.tables:
        for file in manifest.files(table):
            _remove(folder / file)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    with suppress(OSError):  # not empty
        for parent in list(path.parents)[:3]:  # session=, host=, date=
            parent.rmdir()


def clean(folder: Path) -> int:
    """Remove the files of killed processes; return the number of removed files and folders.

    A cleaning process lists files and folders before it reads locks and manifests. A listed file
    that no lock and no manifest names therefore belongs to no running writer and to no session.
    """
    files = list((folder / TABLES).glob("*/*/*/*/*.parquet"))
    private = [path for path in (folder / WRITING).glob("*") if path.suffix != SUFFIX]
    count = sum(_clean_lock(folder, lock) for lock in (folder / WRITING).glob(f"*{SUFFIX}"))
    count += sum(map(_clean_private, private))
    alive = {lock.name.removesuffix(SUFFIX) for lock in (folder / WRITING).glob(f"*{SUFFIX}")}
    alive |= {manifest.token for manifest in session_manifests.read_all(folder)}
    dead = [path for path in files if path.stem.partition("-")[0] not in alive]
    for path in dead:
        _remove(path)
    return count + len(dead) + _clean_manifests(folder)


def _clean_manifests(folder: Path) -> int:
    """Remove manifests whose writers were killed before they renamed them; return their number."""
    with session_manifests.manifest_lock(folder):  # so nobody is writing one
        dead = list((folder / MANIFESTS).glob(f".*{UNFINISHED}"))
        for path in dead:
            path.unlink(missing_ok=True)
    return len(dead)


def _clean_private(private: Path) -> bool:
    """Remove a private folder whose writer has ended.

    A task of a killed writer may have put files into the folder after a cleaning process had
    removed the folder.
    """
    dead = private.is_dir() and not private.with_name(f"{private.name}{SUFFIX}").exists()
    if dead:
        shutil.rmtree(private, ignore_errors=True)
    return dead


def _clean_lock(folder: Path, lock: Path) -> bool:
    """Remove the private folder and the lock file of a writer that has ended."""
    with suppress(FileNotFoundError, BlockingIOError), lock.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is(lock, file):
            shutil.rmtree(folder / WRITING / lock.name.removesuffix(SUFFIX), ignore_errors=True)
            lock.unlink()
            return True
    return False

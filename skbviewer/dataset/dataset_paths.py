# SPDX-License-Identifier: MIT
"""The paths of files in a dataset, and the mark that makes a folder a dataset."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from urllib.parse import quote

from ..records import BadInput
from ..store.schema import SCHEMA_VERSION

MARK = "dataset.json"
UNFINISHED = ".tmp"  # the end of the name of a file that is being written
MANIFESTS, TABLES, WRITING, LOCK = "manifests", "tables", "writing", "lock"
FORMAT = {"format": 1, "tables": SCHEMA_VERSION}
NULL = "__HIVE_DEFAULT_PARTITION__"  # how the name of a folder says that a value is missing
HEX = re.compile(r"[0-9a-f]{16,64}")
DATE = re.compile(r"\d{4}-\d\d-\d\d")


def table_file(table: str, date: str, host: str, session: str, name: str) -> Path:
    """Return the path of a session's file with a share of the table, relative to the dataset.

    `name` is the file's name, which begins with the token of the writer.

    Hive, Spark, Polars and DuckDB read the folders' names as columns; they would read a host named
    NULL as a missing host.
    """
    name_of_host = quote(host, safe="") if host != NULL else f"%5F{NULL[1:]}"
    place = Path(TABLES, table, f"date={date}", f"host={name_of_host}")
    return place / f"session={session}" / f"{name}.parquet"


def check(folder: Path) -> None:
    """Raise BadInput if `folder` is no dataset, has another version, or lacks its manifests.

    Without manifests, all tables would look like tables of killed writers, which are removed.
    """
    try:
        found = json.loads((folder / MARK).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadInput(folder, None, f"is no dataset: it has no {MARK}") from error
    except (OSError, ValueError) as error:
        raise BadInput(folder / MARK, None, f"cannot read: {error}") from error
    if found != FORMAT:
        why = f"is a dataset of version {found}, not {FORMAT}: add the recordings to a new dataset"
        raise BadInput(folder, None, why)
    if not (folder / MANIFESTS).is_dir():
        raise BadInput(folder, None, f"is damaged: it has no folder {MANIFESTS}")


def make(folder: Path) -> None:
    """Make `folder` a dataset unless it is one already; two processes may do this at once.

    Raises BadInput if the folder contains other files, is a dataset of another version or cannot be
    written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / MARK).exists():
            others = [each.name for each in folder.iterdir() if not _ours(each.name)]
            if others:
                raise BadInput(folder, None, f"the folder holds other files, such as {min(others)}")
            (folder / MANIFESTS).mkdir(exist_ok=True)
            write_synced(folder / MARK, json.dumps(FORMAT) + "\n")
        for name in (TABLES, WRITING):  # which copies may lack: they are often empty
            (folder / name).mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(folder, None, f"cannot write: {error.strerror or error}") from error
    check(folder)


def _ours(name: str) -> bool:
    return name in (MANIFESTS, TABLES, WRITING, LOCK) or name.startswith(f".{MARK}")


def write_synced(path: Path, text: str) -> None:
    """Write a file under a temporary name, make sure that it is on the disk, and rename it.

    If OSError is raised, no part of the file is left.
    """
    made = path.with_name(f".{path.name}.{os.getpid()}{UNFINISHED}")
    try:
        with made.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.rename(made, path)
    finally:
        made.unlink(missing_ok=True)
    sync(path.parent)


def sync(path: Path) -> None:
    """Make sure that a file, or the list of names in a folder, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

# SPDX-License-Identifier: MIT
"""The files of a source tree."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

USUAL = ("include", "net")
# Files that skbscan added to the tree are not part of it.
RUNTIME_HEADER = "include/linux/kbl_probe.h"
RUNTIME_SOURCE = "lib/kbl_probe.c"


class BadTree(Exception):
    """Raised if the tree or one of its folders cannot be scanned; the text is for the user."""


class SourceFile(NamedTuple):
    """A .c or .h file; `path` is relative to the tree, with slashes."""

    path: str
    size: int


class TreeFiles(NamedTuple):
    """Source files in order of path, warnings, and the number of symbolic links left out."""

    files: list[SourceFile]
    warnings: list[str]
    links: int


def folders(root: Path, wanted: list[str]) -> list[str]:
    """Return the folders to scan, relative to `root`: `wanted` ones, or include and net, or all.

    The folders include and net are scanned if no folder is wanted and both exist. Raises BadTree,
    also for a folder outside `root`.
    """
    if not root.is_dir():
        missing = "not a folder: give the folder of the tree" if root.exists() else "no such folder"
        raise BadTree(f"{root}: {missing}")
    for name in wanted:
        if not (root / name).is_dir():
            raise BadTree(f"{root / name}: no such folder")
    places = [os.path.relpath(root / name, root).replace(os.sep, "/") for name in wanted]
    for name, place in zip(wanted, places, strict=True):
        if place.split("/")[0] == "..":
            raise BadTree(f"{name}: not a folder of {root}")
    usual = all((root / name).is_dir() for name in USUAL)
    return list(dict.fromkeys(places)) or (list(USUAL) if usual else ["."])


def listing(root: Path, names: list[str]) -> TreeFiles:
    """Return every .c and .h file in the folders.  Links are not followed, so there are no loops.

    Folders whose names begin with a dot are skipped: they belong to tools, not to the source.
    """
    found: dict[str, SourceFile] = {}
    warnings: list[str] = []
    links = 0

    def unreadable(problem: OSError) -> None:
        warnings.append(f"{problem.filename}: {problem.strerror}")

    for name in names:
        for folder, inner, files in os.walk(root / name, onerror=unreadable):
            inner[:] = sorted(i for i in inner if not i.startswith("."))
            links += sum(os.path.islink(os.path.join(folder, i)) for i in inner)
            for file in files:
                if not file.endswith((".c", ".h")):
                    continue
                full = os.path.join(folder, file)
                path = os.path.relpath(full, root).replace(os.sep, "/")
                if path in (RUNTIME_HEADER, RUNTIME_SOURCE):
                    continue
                try:
                    status = os.lstat(full)
                except OSError as problem:
                    warnings.append(f"{path}: {problem.strerror}")
                    continue
                if stat.S_ISLNK(status.st_mode):
                    links += 1
                elif stat.S_ISREG(status.st_mode):
                    found[path] = SourceFile(path, status.st_size)
                else:
                    warnings.append(f"{path}: not a regular file")
    if not found and not warnings:
        raise BadTree(f"{root}: no file *.c or *.h in it")
    return TreeFiles([found[path] for path in sorted(found)], warnings, links)

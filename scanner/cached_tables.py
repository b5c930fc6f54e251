# SPDX-License-Identifier: MIT
"""Make the tables of a tree, or read them from the cache if nothing has changed since."""

from __future__ import annotations

import hashlib
import os
import pickle
from pathlib import Path
from typing import NamedTuple

from scanner import facts_cache
from scanner.progress import Progress
from scanner.scan import digests, scan
from scanner.source.source_tree import folders, listing
from scanner.tables.three_tables import Options, Result, analyse


class Run(NamedTuple):
    """The tree and the folders to scan, and the number of processes (`jobs`).

    `store` is the folder of the cache; None means no cache.
    """

    root: Path
    folders: list[str]
    jobs: int
    store: Path | None


def tables(run: Run, options: Options, progress: Progress) -> Result:
    """Return the tables of a tree; raises BadTree."""
    path = None
    if run.store is not None:
        key = _key(run, options)
        path = run.store / f"{key}.tables"
        kept = _load(path)
        if kept is not None:
            return kept
    found = scan(run.root, run.folders, run.jobs, run.store, progress)
    result = analyse(found.files, options, found.warnings)
    result.counts["links"] = found.links
    if path is not None and found.whole:
        data = pickle.dumps(result, protocol=5)
        if problem := facts_cache.write(path, data):
            result.warnings.append(problem)
        facts_cache.drop_old(path)
    return result


def _key(run: Run, options: Options) -> str:
    """Return a hash of everything that the tables depend on: scanner, options and files."""
    listed = listing(run.root, folders(run.root, run.folders))
    whole = hashlib.sha256(repr((facts_cache.scanner_key(every=True), options)).encode())
    whole.update(repr((listed.warnings, listed.links)).encode())
    for path, digest in digests(run.root, listed.files):
        whole.update(os.fsencode(path) + b"\0" + digest)
    return whole.hexdigest()[:32]


def _load(path: Path) -> Result | None:
    try:
        found = pickle.loads(facts_cache.read(path))
    except facts_cache.UNREADABLE:
        return None
    return found if isinstance(found, Result) else None

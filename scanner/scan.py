# SPDX-License-Identifier: MIT
"""Read a whole tree into facts: first all macros, then all files, in parallel processes."""

from __future__ import annotations

import gc
import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from pickle import dumps
from typing import NamedTuple

from scanner import facts_cache
from scanner.facts import FileFacts, Macro
from scanner.parse.source_file_reader import FileReader
from scanner.progress import Progress
from scanner.source.macro_table import MacroTable, learn
from scanner.source.prepared_file import defines
from scanner.source.source_tree import SourceFile, folders, listing
from scanner.worker_processes import Lost, run

LARGEST = 32 << 20  # bytes; larger files are left out and named
NESTING = 20_000  # Python frames; a statement nested deeper is left to tree-sitter
COLLECT = 4 << 20  # bytes read between two runs of the garbage collector


class Scan(NamedTuple):
    """The facts of a tree.

    `names` are the folders that were read. `links` is the number of symbolic links left out. `read`
    is the number of files that were parsed, not taken from the cache. `whole` means that every file
    was read completely.
    """

    root: Path
    names: list[str]
    files: list[FileFacts]
    warnings: list[str]
    links: int
    read: int
    whole: bool


def _bytes(root: Path, file: SourceFile) -> bytes | str:
    """Return a file's bytes, or a text that says why it cannot be read."""
    if file.size > LARGEST:
        return f"larger than {LARGEST >> 20} MiB"
    try:
        return (root / file.path).read_bytes()
    except OSError as problem:
        return problem.strerror or "cannot be read"


def _failed(path: str, reason: str) -> FileFacts:
    return FileFacts(path, 0, (), (), (), (), (), (), (), (reason,), (0, 0, 0, 0))


def read_safely(reader: FileReader, path: str, data: bytes) -> FileFacts:
    """Return the facts of a file, or only a warning if the scanner fails on the file."""
    try:
        return reader.read(path, data)
    except (RecursionError, MemoryError) as problem:
        return _failed(path, f"too deep or too large: {type(problem).__name__}")


def _macro_reader(root: Path) -> Callable[[SourceFile], list[Macro]]:
    def work(file: SourceFile) -> list[Macro]:
        data = _bytes(root, file)
        return defines(data) if isinstance(data, bytes) else []

    return work


def _table(root: Path, files: list[SourceFile], jobs: int, progress: Progress) -> MacroTable:
    progress.start("macros", sum(f.size for f in files))
    found: dict[str, list[Macro]] = {}
    for file, macros in run(files, jobs, lambda: _macro_reader(root)):
        # A file whose macros cannot be read is reported when the whole file is read.
        found[file.path] = [] if isinstance(macros, Lost) else macros
        progress.add(file.size)
    return learn(macro for file in files for macro in found[file.path])


def _fact_reader(root: Path, table: MacroTable) -> Callable[[SourceFile], facts_cache.Entry]:
    sys.setrecursionlimit(NESTING)
    gc.disable()
    reader = FileReader(table)
    read = 0

    def work(file: SourceFile) -> facts_cache.Entry:
        nonlocal read
        data = _bytes(root, file)
        if isinstance(data, str):
            return facts_cache.Entry(b"", dumps(_failed(file.path, data), protocol=5))
        read += len(data)
        if read > COLLECT:
            read = 0
            gc.collect()
        facts = read_safely(reader, file.path, data)
        # A file that took too long may be read completely in a later run.
        digest = b"" if reader.cut else facts_cache.digest(data)
        return facts_cache.Entry(digest, dumps(facts, protocol=5))

    return work


def _table_key(table: MacroTable) -> str:
    parts = (
        sorted(table.annotations.items()),
        sorted(table.attributes),
        sorted(table.loops),
        sorted(table.heads.items()),
        sorted(table.functions),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def digests(root: Path, files: list[SourceFile]) -> list[tuple[str, bytes]]:
    """Return (path, SHA-256) of each file; the SHA-256 is b"" if the file cannot be read."""
    found = []
    for file in files:
        data = _bytes(root, file)
        found.append((file.path, facts_cache.digest(data) if isinstance(data, bytes) else b""))
    return found


def _kept(
    root: Path, files: list[SourceFile], pack: facts_cache.Pack | None
) -> dict[str, facts_cache.Entry]:
    """Return the entries of `pack` whose files have not changed, by path."""
    if pack is None:
        return {}
    kept = {}
    for path, digest in digests(root, files):
        entry = pack.entries.get(path)
        if entry is not None and digest and entry.digest == digest:
            kept[path] = entry
    return kept


def scan(root: Path, wanted: list[str], jobs: int, store: Path | None, progress: Progress) -> Scan:
    """Return the facts of the C files in the folders `wanted` of the tree `root`.

    If `wanted` is empty, `include/` and `net/` are read, or the whole tree if one of them is
    missing. `jobs` processes read the files; `store` is the cache's folder, None for no cache.
    Raises BadTree if the tree or a folder is missing.
    """
    names = folders(root, wanted)
    listed = listing(root, names)
    gc.disable()
    code = facts_cache.scanner_key()
    path = facts_cache.pack_path(store, root, names) if store else None
    pack = facts_cache.load(path, code) if path else None
    kept = _kept(root, listed.files, pack)
    warnings = list(listed.warnings)
    if pack is None or len(kept) < len(listed.files) or len(kept) < len(pack.entries):
        table = _table(root, listed.files, jobs, progress)
        key = f"{code} {_table_key(table)}"
        entries = dict(kept) if pack is not None and pack.key == key else {}
        missing = [f for f in listed.files if f.path not in entries]
        entries.update(_read(root, missing, table, jobs, progress))
        if path and (problem := facts_cache.save(path, facts_cache.Pack(key, entries))):
            warnings.append(problem)
    else:
        entries, missing = kept, []
    files = [facts_cache.unpack(entries[f.path].blob) for f in listed.files]
    progress.clear()
    whole = all(entries[f.path].digest for f in listed.files)
    return Scan(root, names, files, warnings, listed.links, len(missing), whole)


def _read(
    root: Path, files: list[SourceFile], table: MacroTable, jobs: int, progress: Progress
) -> Iterator[tuple[str, facts_cache.Entry]]:
    progress.start("files", sum(f.size for f in files))
    # Large files first, so that no process ends long after the others.
    ordered = sorted(files, key=lambda f: (-f.size, f.path))
    for file, entry in run(ordered, jobs, lambda: _fact_reader(root, table)):
        if isinstance(entry, Lost):
            entry = facts_cache.Entry(b"", dumps(_failed(file.path, entry.reason), protocol=5))
        yield file.path, entry
        progress.add(file.size)

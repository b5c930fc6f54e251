# SPDX-License-Identifier: MIT
"""A cache of facts of earlier runs: one file of pickles per tree in the user's cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import tempfile
import zlib
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from scanner.facts import FileFacts

# What loading a file cut short, or written by another version, may raise.
UNREADABLE = (
    OSError,
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    TypeError,
    AttributeError,
    ImportError,
    IndexError,
)
_CHECKSUM = 4  # bytes in front of each file


class Entry(NamedTuple):
    """The facts of a file, pickled, and the SHA-256 of the file's bytes."""

    digest: bytes
    blob: bytes


class Pack(NamedTuple):
    """The cached facts of a tree, by the path of each file.

    `key` identifies the scanner's code and the macro table that made the facts.
    """

    key: str
    entries: dict[str, Entry]


def folder() -> Path:
    """Return the cache folder, according to the XDG base directory specification."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "skbscan"


def digest(data: bytes) -> bytes:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(data).digest()


# The folders and modules whose code decides what facts a file has.
_READING = frozenset({"facts", "parse", "source"})
# The folder whose code decides what the tables contain.
_TABLES = frozenset({"tables"})


def scanner_key(every: bool = False) -> str:
    """Return a hash of the code that determines the facts, and the versions of the parsers.

    With `every`, the hash also covers the code that determines the tables.
    """
    whole = hashlib.sha256()
    here = Path(__file__).parent
    for path in sorted(here.rglob("*.py")):
        part = path.relative_to(here).parts[0].removesuffix(".py")
        if part in _READING or (every and part in _TABLES):
            whole.update(path.read_bytes())
    parsers = [version(name) for name in ("pycparser", "tree-sitter", "tree-sitter-c")]
    return " ".join([whole.hexdigest(), *parsers])


def pack_path(cache: Path, root: Path, names: list[str]) -> Path:
    """Return the path of the cache file for the folders `names` of the tree `root`."""
    name = hashlib.sha256(repr((str(root.resolve()), names)).encode()).hexdigest()
    return cache / f"{name[:32]}.pack"


def load(path: Path, key: str) -> Pack | None:
    """Return the cached facts in the file `path`; None if it is damaged or has another key."""
    try:
        kept, entries = pickle.loads(read(path))
    except UNREADABLE:
        return None
    if not isinstance(kept, str) or not kept.startswith(key) or not isinstance(entries, dict):
        return None
    return Pack(kept, {path: Entry(*entry) for path, entry in entries.items()})


def save(path: Path, pack: Pack) -> str:
    """Write these facts to the file `path`, completely or not at all.

    Returns "", or the reason why the file could not be written.
    """
    plain = {name: tuple(entry) for name, entry in pack.entries.items()}
    return write(path, pickle.dumps((pack.key, plain), protocol=5))


def read(path: Path) -> memoryview:
    """Return the data of a file that write() wrote.

    Raises OSError, or ValueError for a file that write() did not write.
    """
    whole = path.read_bytes()
    data = memoryview(whole)[_CHECKSUM:]
    if zlib.crc32(data) != int.from_bytes(whole[:_CHECKSUM], "little"):
        raise ValueError("damaged")
    return data


def write(path: Path, data: bytes) -> str:
    """Write `data` to the file `path`, completely or not at all.

    Returns "", or the reason why the file could not be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(zlib.crc32(data).to_bytes(_CHECKSUM, "little"))
                file.write(data)
            os.replace(name, path)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(name)
    except OSError as problem:
        return f"{path}: the cache was not written: {problem.strerror}"
    return ""


def drop_old(path: Path, kept: int = 12) -> None:
    """Remove old cache files beside `path` with the same suffix; the `kept` newest stay."""
    with contextlib.suppress(OSError):
        files = sorted(path.parent.glob(f"*{path.suffix}"), key=lambda p: p.stat().st_mtime)
        for old in files[:-kept]:
            old.unlink()


def unpack(blob: bytes) -> FileFacts:
    """Return the FileFacts that a cache entry contains, unpickled."""
    facts: FileFacts = pickle.loads(blob)
    return facts

# SPDX-License-Identifier: MIT
"""Manifests: one small file per session, which names its tables.

Readers read only files that a manifest names. A manifest is written last; renaming it publishes all
tables of its session at once. The name of a manifest is the hash of the inputs. A session made by
newer rules replaces the older session at the moment in which the newer manifest is renamed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..matching import RULES
from ..records import BadInput
from ..store.schema import SCHEMA_VERSION
from .dataset_paths import DATE, HEX, LOCK, MANIFESTS, check, table_file, write_synced

MOST_FILES = 1 << 20  # of a table
TEXTS = ("session", "key", "token", "date", "host")
TIMES = ("begin_ns", "end_ns")
ID = 32  # hexadecimal digits of a session's id


class Original(NamedTuple):
    """An input file, as it was when a session was made from it. `size` is in bytes."""

    path: str
    kind: str
    size: int  # bytes
    sha256: str
    rows: int  # packets or records


class Manifest(NamedTuple):
    """One session of a dataset. Times are ns since 1970, on the clock of the first log's host.

    `tables` has the number of rows and the size in bytes of each table.  `cut` has the number of
    files of each table that was written by several tasks.
    """

    session: str
    key: str  # of its inputs, without the rules
    token: str  # of the writer, in the names of its files
    date: str  # UTC day on which it begins
    host: str
    begin_ns: int
    end_ns: int
    originals: tuple[Original, ...]
    tables: dict[str, tuple[int, int]]  # rows and bytes by name, of tables that have rows
    warnings: tuple[str, ...]
    cut: dict[str, int]

    def files(self, table: str) -> tuple[Path, ...]:
        """Return the paths of a table's files relative to the dataset, in the order of rows."""
        names = [self.token]
        if table in self.cut:
            names = [f"{self.token}-{number}" for number in range(self.cut[table])]
        return tuple(table_file(table, self.date, self.host, self.session, n) for n in names)

    def rows(self, table: str) -> int:
        """Return the number of rows of the session's table `table`."""
        return self.tables.get(table, (0, 0))[0]

    @property
    def size(self) -> int:
        """Return the size of all tables in bytes."""
        return sum(size for _, size in self.tables.values())

    @property
    def records(self) -> int:
        """Return the number of records in all kernel logs plus the number of captured packets."""
        return sum(original.rows for original in self.originals)


def key_of(hashes: Sequence[str]) -> str:
    """Return the key of a session's input files; `hashes` are their SHA-256 in any order."""
    return _hash(" ".join(sorted(hashes)))


def session_of(key: str, inner: bool = True) -> str:
    """Return the id of the session that this version of the program makes of these inputs.

    If not `inner`, the session's tables leave out the calls of functions without an skb.
    """
    left_out = "" if inner else " without inner"
    return _hash(f"{key} rules {RULES} tables {SCHEMA_VERSION}{left_out}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:ID]


def read_all(folder: Path) -> list[Manifest]:
    """Return the manifests of a dataset, sorted by start time.

    Raises BadInput if `folder` is not a dataset or is damaged.
    """
    check(folder)
    found = (read(path) for path in (folder / MANIFESTS).glob("[!.]*.json"))
    return sorted((each for each in found if each), key=lambda each: (each.begin_ns, each.session))


def read(path: Path) -> Manifest | None:
    """Return the manifest in the file `path`; None if there is no such file.

    Raises BadInput if the manifest is damaged.
    """
    try:
        made = _manifest(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(path, None, f"is no manifest: {error!r}") from error
    if not all(map(HEX.fullmatch, (made.session, made.key, made.token))) or not DATE.fullmatch(
        made.date
    ):
        raise BadInput(path, None, "is not a manifest: it contains a file name that is not allowed")
    return made


def _manifest(found: dict[str, Any]) -> Manifest:
    originals = tuple(Original(**each) for each in found.pop("originals"))
    tables = {str(name): (int(rows), int(size)) for name, (rows, size) in found["tables"].items()}
    if not all(name.isidentifier() for name in tables):
        raise ValueError("a table's name")
    for names, kind in ((TEXTS, str), (TIMES, int)):
        if not all(isinstance(found[name], kind) for name in names):
            raise TypeError(f"{', '.join(names)}: not of type {kind.__name__}")
    warnings = tuple(found.pop("warnings"))
    cut = {str(name): int(files) for name, files in found.pop("cut", {}).items()}
    if not all(0 < files <= MOST_FILES for files in cut.values()):
        raise ValueError("the number of files of a table is out of range")
    made = {"originals": originals, "tables": tables, "warnings": warnings, "cut": cut}
    return Manifest(**found | made)


def damaged_file(folder: Path, manifest: Manifest) -> Path | None:
    """Return a file of the session that is missing or has another size, or None."""
    for table, (_, size) in manifest.tables.items():
        files = [folder / file for file in manifest.files(table)]
        absent = [file for file in files if not file.is_file()]
        if absent or sum(file.stat().st_size for file in files) != size:
            return (absent or files)[0]
    return None


def place_of(folder: Path, key: str) -> Path:
    """Return the path of the manifest of the inputs with the key `key`."""
    return folder / MANIFESTS / f"{key}.json"


def write(folder: Path, manifest: Manifest) -> None:
    """Publish a session: write its manifest, while holding manifest_lock(). Raises OSError."""
    found = manifest._asdict() | {"originals": [each._asdict() for each in manifest.originals]}
    write_synced(place_of(folder, manifest.key), json.dumps(found, indent=1) + "\n")


@contextmanager
def manifest_lock(folder: Path) -> Iterator[None]:
    """Let only one process at a time change the manifests.

    If the process ends, the kernel releases the process's lock.
    """
    with (folder / LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

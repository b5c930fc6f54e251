# SPDX-License-Identifier: MIT
"""Add one pair to a dataset: the task that a worker runs.  Running it twice changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as parquet

from ..records import BadInput, Progress, Silent, counted
from ..session import Session, import_files
from ..session.file_hash import sha256
from . import session_manifests, worker_memory
from .file_groups import Pair, in_order
from .parallel_table_writing import WriteAll, in_this_process, shares_of
from .session_manifests import Manifest, Original
from .session_writer import Writer, publish, writer

NO_HOST = "unknown"


class Outcome(NamedTuple):
    """The result of adding a pair.

    `error` is a one-line message, or "" if the pair's session is in the dataset.
    """

    files: Pair
    session: str
    added: bool  # False: it was there before
    text: str  # for users: what was added
    warnings: tuple[str, ...] = ()
    error: str = ""


def add_pair(
    folder: Path,
    files: Pair,
    progress: Progress | None = None,
    write_all: WriteAll = in_this_process,
    inner: bool = True,
) -> Outcome:
    """Import a log with its captures and publish its tables, unless that has been done before.

    `write_all` writes the shares of the tables; a long log has several. Bad input is named in the
    result and raises no exception, which would end other tasks. If not `inner`, the tables leave
    out the calls of functions without an skb. Raises Cancelled.
    """
    watch: Progress = progress or Silent()
    try:
        ordered = in_order(files)
        hashes = [sha256(path, watch) for path in ordered]
        key = session_manifests.key_of(hashes)
        session = session_manifests.session_of(key, inner)
        there = session_manifests.read(session_manifests.place_of(folder, key))
        is_there = there is not None and there.session == session
        if there and is_there and session_manifests.damaged_file(folder, there) is None:
            return Outcome(files, session, False, "is in the dataset")
        worker_memory.check(ordered, worker_memory.limit_here())
        with writer(folder) as made:
            return _add(made, ordered, hashes, watch, write_all, inner)._replace(files=files)
    except BadInput as error:
        return Outcome(files, "", False, "", error=str(error))
    except OSError as error:
        why = f"{error.filename or folder}: {error.strerror or error}"
        return Outcome(files, "", False, "", error=why)


def _add(
    made: Writer,
    files: Pair,
    hashes: Sequence[str],
    progress: Progress,
    write_all: WriteAll,
    inner: bool,
) -> Outcome:
    memory = worker_memory.of_arrays(worker_memory.limit_here())
    session_file = made.work / "session.skbv"
    imported = import_files(files, session_file, progress, (), memory, results=False)
    session = Session.open(imported.path)
    try:
        _check_unchanged(session, hashes)
        written = write_all(shares_of(session, imported.path, inner), progress)
        manifest = _manifest(made, session, inner, *_tables(made, written))
    finally:
        session.close()
    added = publish(made, manifest)
    rows = [(manifest.rows("packets"), "packet"), (manifest.rows("calls"), "call")]
    text = ", ".join([f"host {manifest.host}", *(counted(*each) for each in rows)])
    return Outcome(files, manifest.session, added, text, imported.warnings)


def _check_unchanged(session: Session, hashes: Sequence[str]) -> None:
    for source, before in zip(session.sources(), hashes, strict=True):
        if source.sha256 != before:
            raise BadInput(source.path, None, "changed while it was read")


def _tables(
    made: Writer, written: Sequence[Path]
) -> tuple[dict[str, tuple[int, int]], dict[str, int]]:
    """Move the tables' files into the writer's private folder, numbered in their final order.

    `written` are the folders that contain the shares of all tables. Returns the number of rows and
    of bytes of each table, and the number of files of each table that has more than one file.
    """
    found: dict[str, tuple[int, int]] = {}
    files: Counter[str] = Counter()
    for path in (path for folder in written for path in sorted(folder.iterdir())):
        table, rows = path.stem, parquet.read_metadata(path).num_rows
        if rows:
            before = found.get(table, (0, 0))
            found[table] = (before[0] + rows, before[1] + path.stat().st_size)
            path.rename(made.work / f"{table}-{files[table]}.parquet")
            files[table] += 1
    return found, {table: count for table, count in files.items() if count > 1}


def _manifest(
    made: Writer,
    session: Session,
    inner: bool,
    tables: dict[str, tuple[int, int]],
    cut: dict[str, int],
) -> Manifest:
    sources = session.sources()
    originals = tuple(
        Original(each.path, each.kind, each.size, each.sha256, each.rows) for each in sources
    )
    key = session_manifests.key_of([each.sha256 for each in originals])
    begin, end = session.span_ns()
    names = [each.detail.get("hostname", "") for each in sources if each.kind.is_log]
    return Manifest(
        session=session_manifests.session_of(key, inner),
        key=key,
        token=made.token,
        date=datetime.fromtimestamp(begin // 10**9, UTC).date().isoformat(),
        host=next(filter(None, names), NO_HOST),
        begin_ns=begin,
        end_ns=end,
        originals=originals,
        tables=tables,
        warnings=tuple(line for each in sources for line in each.warnings),
        cut=cut,
    )

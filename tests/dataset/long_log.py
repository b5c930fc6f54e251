# SPDX-License-Identifier: MIT
"""``python -m tests.dataset.long_log``: a log of millions of rows, written by several tasks.

Adds a generated recording to a dataset by two workers, each of which writes shares of its tables,
and to another one as a single task; compares all rows of all tables, in their order.

With ``--limit MIB``, a worker that has more memory than that in no file is ended, and the single
task keeps all arrays in ordinary memory.  With ``--group MIB``, the kernel limits all memory of the
command and its workers together, also pages of files, while they add; this needs root's rights.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet

from skbviewer.dataset import (
    dask_cluster,
    dataset_paths,
    parallel_table_writing,
    session_manifests,
    worker_memory,
)
from skbviewer.dataset.add_task import add_pair
from skbviewer.dataset.session_manifests import Manifest
from skbviewer.export.parquet import SORTED
from skbviewer.records import Silent, scratch_memory
from tests.bench.generate import Generated, generate
from tests.bench.worker_memory import WorkerMemory
from tests.dataset.memory_group import memory_group

PACKETS, CALLS = 600_000, 3_200_000
WORKERS = 2
UNLIMITED = 1 << 60


def compare(parts: Path, whole: Path) -> Counter[str]:
    """Return the rows of each table, which are the same in both datasets.

    Raises SystemExit if they are not.
    """
    found: Counter[str] = Counter()
    for one, other in zip(*map(_sessions, (parts, whole)), strict=True):
        if (one.session, one.originals) != (other.session, other.originals) or other.cut:
            raise SystemExit("the manifests differ")
        if set(one.tables) != set(other.tables):
            raise SystemExit(f"other tables: {set(one.tables) ^ set(other.tables)}")
        for table in one.tables:
            _compare_table(table, (parts, one), (whole, other))
            found[table] += one.rows(table)
    return found


def _sessions(dataset: Path) -> list[Manifest]:
    return sorted(session_manifests.read_all(dataset), key=lambda each: each.session)


def _compare_table(table: str, one: tuple[Path, Manifest], other: tuple[Path, Manifest]) -> None:
    orders = [_order(table, *each) for each in (one, other)]
    names = parquet.read_schema(other[0] / other[1].files(table)[0]).names
    for name in names:
        columns = [_column(table, name, *each) for each in (one, other)]
        if orders[0] is not None:
            columns = [column.take(order) for column, order in zip(columns, orders, strict=True)]
        if not columns[0].equals(columns[1]):
            raise SystemExit(f"{table}.{name} differs")


def _order(table: str, dataset: Path, manifest: Manifest) -> arrow.Array | None:
    """Return the order of a table whose rows are sorted within each row group, else None."""
    if table not in SORTED:
        return None
    keys = ("source", "id") if table == "lifetimes" else ("number",)
    values = [_column(table, key, dataset, manifest).to_numpy() for key in keys]
    return arrow.array(np.lexsort(values[::-1]))


def _column(table: str, name: str, dataset: Path, manifest: Manifest) -> arrow.ChunkedArray:
    """Return a column of all files of a table, in their order."""
    read = [
        parquet.read_table(dataset / file, columns=[name], partitioning=None)[name]
        for file in manifest.files(table)
    ]
    return arrow.chunked_array([piece for column in read for piece in column.chunks])


def main() -> None:
    """Read the arguments; generate, add twice, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=PACKETS)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--limit", type=int, default=0, help="MiB of a worker")
    parser.add_argument("--group", type=int, default=0, help="MiB of all processes")
    parser.add_argument("--out", type=Path, help="the folder for the temporary files")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.out) as name:
        out = Path(name)
        made = generate(out, args.packets, args.calls)
        for dataset in ("parts", "whole"):
            dataset_paths.make(out / dataset)
        sizes = [f"{path.stat().st_size >> 20} MiB" for path in (made.log, made.capture)]
        print(f"{made.written.rows} records; log and capture: {', '.join(sizes)}", flush=True)
        _add_parts(out / "parts", made, args)
        _add_whole(out / "whole", made, args.limit > 0)
        rows = compare(out / "parts", out / "whole")
        (manifest,) = session_manifests.read_all(out / "parts")
    print(f"{sum(rows.values())} rows, of up to {max(manifest.cut.values())} files, are the same")
    print(", ".join(f"{table} {count}" for table, count in rows.items()))


def _add_parts(dataset: Path, made: Generated, args: argparse.Namespace) -> None:
    """Add the pair by several workers; print what they took."""
    files = (made.log, made.capture)
    workers = min(args.workers, dask_cluster.tasks_of([files]))
    memory = (args.limit << 20) * workers or dask_cluster.memory_of_machine()
    group = memory_group(args.group << 20) if args.group else nullcontext()
    begin = time.monotonic()
    with (
        patch.object(dask_cluster, "memory_of_machine", lambda: memory),
        group,
        WorkerMemory() as used,
    ):
        (outcome,) = dask_cluster.run(dataset, [files], workers, "", Silent())
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent, wall = children.ru_utime + children.ru_stime, time.monotonic() - begin
    print(f"{outcome.text}{outcome.error}, by {workers} workers: {spent:.1f} s CPU", end="")
    print(f" ({children.ru_stime:.1f} s of them in the kernel), {wall:.1f} s")
    print("MiB in no file:", *(f"{peak:.0f}" for peak in used.anonymous.values()), end="")
    print("; with mapped files:", *(f"{peak:.0f}" for peak in used.peaks.values()), flush=True)
    if outcome.error:
        raise SystemExit(1)


def _add_whole(dataset: Path, made: Generated, in_memory: bool) -> None:
    """Add the pair as one task in this process; if `in_memory`, no array is in a file."""
    arrays = UNLIMITED if in_memory else worker_memory.ARRAYS
    large = UNLIMITED if in_memory else scratch_memory.LARGE_BYTES
    with (
        patch.object(parallel_table_writing, "ROWS", UNLIMITED),
        patch.object(worker_memory, "ARRAYS", arrays),
        patch.object(scratch_memory, "LARGE_BYTES", large),
    ):
        whole = add_pair(dataset, (made.log, made.capture))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{whole.text}{whole.error}, as one task: {peak} MiB", flush=True)


if __name__ == "__main__":
    main()

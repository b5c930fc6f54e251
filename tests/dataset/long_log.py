# SPDX-License-Identifier: MIT
"""``python -m tests.dataset.long_log``: a log of millions of rows, written by several tasks.

Adds a generated recording to a dataset by two workers, each of which writes shares of its tables,
and to another one as a single task; compares all rows of all tables, in their order.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet

from skbviewer.dataset import folder, manifests, shares
from skbviewer.dataset.adding import add_pair
from skbviewer.dataset.cluster import run
from skbviewer.dataset.manifests import Manifest
from skbviewer.export.parquet import SORTED
from skbviewer.records import Silent
from tests.bench.generate import generate

PACKETS, CALLS = 600_000, 3_200_000
WORKERS = 2


def compare(parts: Path, whole: Path) -> dict[str, int]:
    """Return the rows of each table, which are the same in both datasets.

    Raises SystemExit if they are not.
    """
    ((one,), (other,)) = (manifests.read_all(each) for each in (parts, whole))
    if (one.session, one.originals) != (other.session, other.originals) or other.cut:
        raise SystemExit("the manifests differ")
    if set(one.tables) != set(other.tables):
        raise SystemExit(f"other tables: {set(one.tables) ^ set(other.tables)}")
    for table in one.tables:
        _compare_table(table, (parts, one), (whole, other))
    return {table: one.rows(table) for table in one.tables}


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
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        made = generate(out, args.packets, args.calls)
        for dataset in ("parts", "whole"):
            folder.make(out / dataset)
        files = (made.log, made.capture)
        (outcome,) = run(out / "parts", [files], WORKERS, "", Silent())
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent, peak = used.ru_utime + used.ru_stime, used.ru_maxrss >> 10
        print(f"{outcome.text}{outcome.error}, by {WORKERS} workers: {spent:.1f} s CPU, {peak} MiB")
        with patch.object(shares, "ROWS", 1 << 60):
            whole = add_pair(out / "whole", files)
        print(f"{whole.text}{whole.error}, as one task")
        rows = compare(out / "parts", out / "whole")
        (manifest,) = manifests.read_all(out / "parts")
    print(f"{sum(rows.values())} rows, of up to {max(manifest.cut.values())} files, are the same")
    print(", ".join(f"{table} {count}" for table, count in rows.items()))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Add a log to datasets while the kernel limits the memory of this process that is in no file.

``python -m tests.dataset.limited_memory OUT MIB SMALL LOG`` adds the pair SMALL to the dataset
OUT/files, so that all code is loaded.  Then it adds the pair LOG with at most MIB more of such
memory, and adds LOG to OUT/plain, where no array may be in a file.  A pair is two paths.  Prints
for each LOG what was added, or why not.
"""

from __future__ import annotations

import resource
import sys
import threading
from pathlib import Path

from skbviewer.dataset import dataset_paths, parallel_table_writing, worker_memory
from skbviewer.dataset.add_task import add_pair
from skbviewer.records import scratch_memory
from skbviewer.session import array_memory, importing
from tests.bench.generate import Generated

ARRAYS = 8 << 20  # bytes of large arrays in ordinary memory
LARGE = 1 << 16  # bytes of an array that counts as large
STACK = 1 << 20  # bytes of a thread's stack
SHARE_ROWS = 300_000
PLAIN = 1 << 40  # a bound that is never reached


def data_bytes() -> int:
    """Return the bytes of this process that RLIMIT_DATA limits, see getrlimit(2)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData"))


def pair_of(made: Generated) -> tuple[Path, Path]:
    """Return the log and the capture."""
    return made.log, made.capture


def main(out: Path, most: int, small: list[Path], large: list[Path]) -> None:
    """Add `small`, and `large` twice with `most` more bytes; print the results."""
    threading.stack_size(STACK)
    importing.MANY_LEGS, parallel_table_writing.ROWS = 1, SHARE_ROWS
    array_memory.LARGE = scratch_memory.SMALLEST_FILE = scratch_memory.LARGE_BYTES = LARGE
    worker_memory.ARRAYS = ARRAYS
    for name in ("files", "plain"):
        dataset_paths.make(out / name)
    assert not add_pair(out / "files", tuple(small)).error
    limit = data_bytes() + most
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    print(_added(out / "files", large))
    worker_memory.ARRAYS = scratch_memory.LARGE_BYTES = PLAIN
    print(_added(out / "plain", large))


def _added(dataset: Path, files: list[Path]) -> str:
    try:
        outcome = add_pair(dataset, tuple(files))
    except MemoryError:
        return "not enough memory"
    return outcome.text or outcome.error


if __name__ == "__main__":
    paths = [*map(Path, sys.argv[3:])]
    main(Path(sys.argv[1]), int(sys.argv[2]) << 20, paths[:2], paths[2:])

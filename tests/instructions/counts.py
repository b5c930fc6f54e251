# SPDX-License-Identifier: MIT
"""Read the files of the plugin (docs/instructions.md)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MAGIC = b"KBLINSNS"
VERSION = 1
ENTRY, EXIT, WATCH = 1, 2, 3  # kinds of marks

Rows = npt.NDArray[np.void]


def _of_words(*names: str) -> np.dtype[np.void]:
    return np.dtype([(name, "<u8") for name in names])


HEAD_WORDS = (
    "version", "nr_marks", "nr_blocks", "nr_accesses", "kernel", "probe", "user", "cuts",
    "faults", "marks_lost", "accesses_lost",
)  # fmt: skip
HEAD = np.dtype([("magic", "S8"), *((name, "<u8") for name in HEAD_WORDS)])
MARK = _of_words("all", "kernel", "probe", "user", "place", "kind")
BLOCK = _of_words("start", "after", "insns", "kernel_runs", "kernel", "probe_runs", "probe")
ACCESS = _of_words("function", "line", "physical", "loads", "stores")


class Counts(NamedTuple):
    """One count: its sums, and rows of MARK in time order, of BLOCK and of ACCESS in none."""

    head: np.void
    marks: Rows
    blocks: Rows
    accesses: Rows

    def of_kind(self, kind: int) -> Rows:
        """Return the marks of a kind."""
        return np.asarray(self.marks[self.marks["kind"] == kind])


def read(path: Path) -> Counts:
    """Read a file.  Raises ValueError if it is none, is cut, lost marks or has wrong sums."""
    raw = path.read_bytes()
    if raw[: len(MAGIC)] != MAGIC or len(raw) < HEAD.itemsize:
        raise ValueError(f"{path}: no counts of instructions")
    head, at, parts = np.frombuffer(raw, HEAD, 1)[0], HEAD.itemsize, []
    if head["version"] != VERSION:
        raise ValueError(f"{path}: version {head['version']}, not {VERSION}")
    for dtype, name in ((MARK, "nr_marks"), (BLOCK, "nr_blocks"), (ACCESS, "nr_accesses")):
        parts.append(np.frombuffer(raw, dtype, int(head[name]), at))
        at += dtype.itemsize * int(head[name])
    if at != len(raw):
        raise ValueError(f"{path}: {len(raw)} bytes, not {at}")
    if head["faults"] or head["marks_lost"]:
        raise ValueError(f"{path}: {head['faults']} faults, {head['marks_lost']} marks lost")
    return Counts(head, *parts)


def column(rows: Rows, name: str) -> npt.NDArray[np.int64]:
    """Return a column as int64: addresses of the kernel become negative."""
    values: npt.NDArray[np.int64] = np.ascontiguousarray(rows[name]).view(np.int64)
    return values

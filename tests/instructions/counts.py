# SPDX-License-Identifier: MIT
"""Read the files of the plugin (docs/instructions.md)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

MAGIC = b"KBLINSNS"
VERSIONS = (1, 2, 3)
ENTRY, EXIT, WATCH = 1, 2, 3  # kinds of marks

Rows = npt.NDArray[np.void]


def _of_words(*names: str) -> np.dtype[np.void]:
    return np.dtype([(name, "<u8") for name in names])


HEAD_WORDS = (
    "version", "nr_marks", "nr_blocks", "nr_accesses", "kernel", "probe", "user", "cuts",
    "faults", "marks_lost", "accesses_lost",
)  # fmt: skip
MORE_WORDS = ("nr_touches", "nr_exceptions", "touches_lost")  # since version 2
HEAD = np.dtype([("magic", "S8"), *((name, "<u8") for name in HEAD_WORDS)])
HEAD_2 = np.dtype([("magic", "S8"), *((name, "<u8") for name in (*HEAD_WORDS, *MORE_WORDS))])
MARK = _of_words("all", "kernel", "probe", "user", "place", "kind")
BLOCK = _of_words("start", "after", "insns", "kernel_runs", "kernel", "probe_runs", "probe")
ACCESS = _of_words("function", "line", "physical", "loads", "stores")
TOUCH = _of_words("marks", "function", "line", "loads", "stores")
SIDES = ("kernel", "probe", "user")
TIMES = ("returned", "steps", "longest")  # since version 3
EXCEPTION_2 = np.dtype([*((name, "<u8") for name in ("address", *SIDES)), ("name", "S48")])
EXCEPTION = np.dtype([*((name, "<u8") for name in ("address", *SIDES, *TIMES)), ("name", "S48")])


class Counts(NamedTuple):
    """One count: its sums, and rows of MARK in time order, of BLOCK and of ACCESS in none.

    Rows of TOUCH are in time order, those of EXCEPTION (EXCEPTION_2 in version 2) in none; version
    1 has none of both.
    """

    head: np.void
    marks: Rows
    blocks: Rows
    accesses: Rows
    touches: Rows
    exceptions: Rows

    def of_kind(self, kind: int) -> Rows:
        """Return the marks of a kind."""
        return np.asarray(self.marks[self.marks["kind"] == kind])


def read(path: Path) -> Counts:
    """Read a file.  Raises ValueError if it is none, is cut, lost marks or has wrong sums."""
    raw = path.read_bytes()
    if raw[: len(MAGIC)] != MAGIC or len(raw) < HEAD.itemsize:
        raise ValueError(f"{path}: no counts of instructions")
    head = np.frombuffer(raw, HEAD, 1)[0]
    if head["version"] not in VERSIONS:
        raise ValueError(f"{path}: version {head['version']}, not one of {VERSIONS}")
    head = np.frombuffer(raw, HEAD if head["version"] == 1 else HEAD_2, 1)[0]
    at, parts = head.dtype.itemsize, []
    exception = EXCEPTION if head["version"] > 2 else EXCEPTION_2
    for dtype, name in ((MARK, "nr_marks"), (BLOCK, "nr_blocks"), (ACCESS, "nr_accesses"),
                        (TOUCH, "nr_touches"), (exception, "nr_exceptions")):  # fmt: skip
        number = int(head[name]) if name in head.dtype.names else 0
        parts.append(np.frombuffer(raw, dtype, number, at) if number else np.zeros(0, dtype))
        at += dtype.itemsize * number
    if at != len(raw):
        raise ValueError(f"{path}: {len(raw)} bytes, not {at}")
    if head["faults"] or head["marks_lost"]:
        raise ValueError(f"{path}: {head['faults']} faults, {head['marks_lost']} marks lost")
    return Counts(head, *parts)


def column(rows: Rows, name: str) -> npt.NDArray[np.int64]:
    """Return a column as int64: addresses of the kernel become negative."""
    values: npt.NDArray[np.int64] = np.ascontiguousarray(rows[name]).view(np.int64)
    return values

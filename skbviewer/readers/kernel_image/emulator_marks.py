# SPDX-License-Identifier: MIT
"""Read marks (sums of instructions at entries and exits) from a file of the emulator's plugin."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...records import BadInput
from ...records.types import Bools, Int64s
from .emulator_file import ROW_WORDS, WORD, CountedRows, read_rows

MARKS = "marks"
ENTRY, EXIT = 1, 2  # kinds; watched functions have other marks


class ExecutedMarks(NamedTuple):
    """Marks in the order in which they were written; each array has one value per mark.

    `executed` counts all instructions that were executed before the mark, from an unknown number
    on; `kernel` counts those of the kernel without probes, and `probe` those of probes.  `place` is
    the (signed) address after the instruction by which a function calls ftrace at its entry.
    `lost` is the number of marks for which the file had no room.  `made` is the number of all marks
    made before this one, including marks of other kinds.
    """

    path: Path
    is_exit: Bools
    executed: Int64s
    kernel: Int64s
    probe: Int64s
    place: Int64s
    lost: int
    made: Int64s


def read_executed_marks(path: Path) -> ExecutedMarks:
    """Return the marks of entries and exits in the file `path`.

    Raises BadInput if the file cannot be read or is damaged.
    """
    rows = read_rows(path, MARKS)
    _check(path, rows)
    signed = rows.words.view(np.int64)
    made = np.flatnonzero(np.isin(signed[:, 5], (ENTRY, EXIT)))
    executed, kernel, probe, _, place, kind = signed[made].T
    return ExecutedMarks(path, kind == EXIT, executed, kernel, probe, place, rows.lost, made)


def _check(path: Path, rows: CountedRows) -> None:
    """Raise BadInput if a sum falls from one mark to the next, or has more than 63 bits."""
    sums = rows.words[:, :4].view(np.int64)
    falls = np.diff(sums, axis=0, prepend=np.zeros((1, 4), np.int64)) < 0
    wrong = np.flatnonzero((falls | (sums < 0)).any(axis=1))
    if len(wrong):
        at = rows.begin + WORD * ROW_WORDS[MARKS] * int(wrong[0])
        raise BadInput(path, at, "a sum of executed instructions is less than the sum before it")

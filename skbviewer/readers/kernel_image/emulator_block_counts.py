# SPDX-License-Identifier: MIT
"""Read the blocks of instructions that a kernel executed, from a file of the emulator's plugin."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import BadInput
from .emulator_file import ROW_WORDS, WORD, Words, read_rows

BLOCKS = "blocks"


class ExecutedBlocks(NamedTuple):
    """Blocks of code that a kernel executed, as arrays with one value per block.

    `start` is the address of the first instruction, and `after` the address after the last one.
    `runs` counts the executions by the kernel, but not those by probes.  `is_cut` is True if some
    runs ended before the last instruction of the block.
    """

    path: Path
    start: Words
    after: Words
    runs: Words
    is_cut: npt.NDArray[np.bool_]


def read_executed_blocks(path: Path) -> ExecutedBlocks:
    """Return the blocks in the file `path`.

    Raises BadInput if the file cannot be read or is damaged.
    """
    rows = read_rows(path, BLOCKS)
    start, after, instructions, runs, executed = rows.words.T[:5]
    wrong = np.flatnonzero(after <= start)
    if len(wrong):
        at = rows.begin + WORD * ROW_WORDS[BLOCKS] * int(wrong[0])
        raise BadInput(path, at, "a block of instructions ends before it begins")
    return ExecutedBlocks(path, start, after, runs, instructions * runs != executed)

# SPDX-License-Identifier: MIT
"""Read which blocks of instructions a kernel executed, from a file of the emulator's plugin.

docs/instructions.md describes the file: words of 64 bits, little-endian.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import BadInput

MAGIC, VERSION = b"KBLINSNS", 1
HEAD_WORDS = 12
MARK_BYTES, BLOCK_WORDS, ACCESS_BYTES = 48, 7, 40
BLOCK_BYTES = 8 * BLOCK_WORDS

Words = npt.NDArray[np.uint64]


class ExecutedBlocks(NamedTuple):
    """Blocks of code that a kernel executed, as arrays with one value per block.

    `start` is the address of the first instruction, `after` that behind the last.  `runs` counts
    executions by the kernel, without those by probes.  Where `is_cut`, some runs ended before the
    last instruction.
    """

    path: Path
    start: Words
    after: Words
    runs: Words
    is_cut: npt.NDArray[np.bool_]


def read_executed_blocks(path: Path) -> ExecutedBlocks:
    """Return the blocks in the file `path`.  Raises BadInput if it cannot be read or is damaged."""
    try:
        with path.open("rb") as file:
            head = file.read(8 * HEAD_WORDS)
            marks, blocks, accesses = _numbers_of_rows(path, head)
            size = file.seek(0, 2)
            begin = len(head) + MARK_BYTES * marks
            end = begin + BLOCK_BYTES * blocks
            wanted = end + ACCESS_BYTES * accesses
            if size != wanted:
                raise BadInput(path, min(size, wanted), f"has {size} bytes instead of {wanted}")
            file.seek(begin)
            words = np.frombuffer(file.read(end - begin), "<u8").reshape(-1, BLOCK_WORDS)
    except OSError as error:
        raise BadInput(path, None, error.strerror or str(error)) from error
    start, after, instructions, runs, executed = words.T[:5]
    wrong = np.flatnonzero(after <= start)
    if len(wrong):
        at = begin + BLOCK_BYTES * int(wrong[0])
        raise BadInput(path, at, "a block of instructions ends before it begins")
    return ExecutedBlocks(path, start, after, runs, instructions * runs != executed)


def _numbers_of_rows(path: Path, head: bytes) -> tuple[int, int, int]:
    """Return the numbers of marks, blocks and accesses in the file."""
    if head[: len(MAGIC)] != MAGIC:
        raise BadInput(path, 0, "is no file with counts of executed instructions")
    if len(head) < 8 * HEAD_WORDS:
        raise BadInput(path, len(head), "ends in its header")
    words = np.frombuffer(head, "<u8").tolist()
    version, marks, blocks, accesses = words[1:5]
    if version != VERSION:
        raise BadInput(path, 8, f"has version {version}; this program reads version {VERSION}")
    faults = words[9]
    if faults:
        raise BadInput(path, 72, f"its counts are wrong: {faults} probes did not end")
    return marks, blocks, accesses

# SPDX-License-Identifier: MIT
"""Read the rows of a file with executed instructions, which the emulator's plugin wrote.

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
ROW_WORDS = {"marks": 6, "blocks": 7, "accesses": 5}  # in the order of the file
WORD = 8  # bytes

Words = npt.NDArray[np.uint64]


class CountedRows(NamedTuple):
    """The rows of one kind: an array (rows, words), and the byte at which they begin in the file.

    `marks_lost` is the number of marks for which the file had no room.
    """

    words: Words
    begin: int
    marks_lost: int


def read_rows(path: Path, kind: str) -> CountedRows:
    """Return the rows `kind` of the file `path`: a key of ROW_WORDS.

    Raises BadInput if it cannot be read or is damaged.
    """
    try:
        with path.open("rb") as file:
            head = file.read(WORD * HEAD_WORDS)
            words = _head(path, head)
            size, begins = file.seek(0, 2), _begins(words)
            if size != begins["end"]:
                at = min(size, begins["end"])
                raise BadInput(path, at, f"has {size} bytes instead of {begins['end']}")
            number, width = words[2 + list(ROW_WORDS).index(kind)], ROW_WORDS[kind]
            file.seek(begins[kind])
            rows = np.frombuffer(file.read(WORD * number * width), "<u8").reshape(-1, width)
    except OSError as error:
        raise BadInput(path, None, error.strerror or str(error)) from error
    return CountedRows(rows, begins[kind], words[10])


def _head(path: Path, head: bytes) -> list[int]:
    """Return the words of the header."""
    if head[: len(MAGIC)] != MAGIC:
        raise BadInput(path, 0, "is no file with counts of executed instructions")
    if len(head) < WORD * HEAD_WORDS:
        raise BadInput(path, len(head), "ends in its header")
    words: list[int] = np.frombuffer(head, "<u8").tolist()
    version, faults = words[1], words[9]
    if version != VERSION:
        raise BadInput(path, 8, f"has version {version}; this program reads version {VERSION}")
    if faults:
        raise BadInput(path, 72, f"its counts are wrong: {faults} probes did not end")
    return words


def _begins(head: list[int]) -> dict[str, int]:
    """Return the byte at which each kind of rows begins, and the "end" of the file."""
    at, begins = WORD * HEAD_WORDS, dict[str, int]()
    for number, (kind, width) in zip(head[2:5], ROW_WORDS.items(), strict=True):
        begins[kind] = at
        at += WORD * width * number
    return begins | {"end": at}

# SPDX-License-Identifier: MIT
"""Read rows from a file about executed instructions that the emulator's plugin wrote.

docs/instructions.md describes the file, which consists of little-endian words of 64 bits.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records import BadInput

MAGIC = b"KBLINSNS"
HEAD_WORDS = {1: 12, 2: 15, 3: 15}  # by version
# In the order of the file: words of a row, and which word of the head is the number of rows.
ROW_WORDS = {"marks": 6, "blocks": 7, "accesses": 5, "touches": 5, "exceptions": 13}
EXCEPTION_WORDS_2 = 10  # of a row "exceptions" in version 2
NUMBER_WORDS = {"marks": 2, "blocks": 3, "accesses": 4, "touches": 12, "exceptions": 13}
LOST_WORDS = {"marks": 10, "accesses": 11, "touches": 14}
VERSION_WORD = 1
WORD = 8  # bytes

Words = npt.NDArray[np.uint64]


class CountedRows(NamedTuple):
    """The rows of one kind, as an array (rows, words), and the byte at which they begin.

    `lost` is the number of marks or accesses for which the file had no room.
    """

    words: Words
    begin: int
    lost: int


def read_rows(path: Path, kind: str) -> CountedRows:
    """Return the rows of the kind `kind` (a key of ROW_WORDS) in the file `path`.

    If the file's version does not have this kind, there are no rows.  Raises BadInput if the file
    cannot be read or is damaged.
    """
    try:
        with path.open("rb") as file:
            head = _head(path, file.read(WORD * max(HEAD_WORDS.values())))
            size, begins = file.seek(0, 2), _begins(head)
            if size != begins["end"]:
                at = min(size, begins["end"])
                raise BadInput(path, at, f"has {size} bytes instead of {begins['end']}")
            if kind not in begins:
                return CountedRows(np.zeros((0, ROW_WORDS[kind]), np.uint64), 0, 0)
            number, width = head[NUMBER_WORDS[kind]], _width(kind, head)
            file.seek(begins[kind])
            rows = np.frombuffer(file.read(WORD * number * width), "<u8").reshape(-1, width)
    except OSError as error:
        raise BadInput(path, None, error.strerror or str(error)) from error
    return CountedRows(rows, begins[kind], head[LOST_WORDS[kind]] if kind in LOST_WORDS else 0)


def _head(path: Path, head: bytes) -> list[int]:
    """Return the words of the header, as many as its version has."""
    if head[: len(MAGIC)] != MAGIC:
        raise BadInput(path, 0, "is not a file with counts of executed instructions")
    words: list[int] = np.frombuffer(head[: len(head) // WORD * WORD], "<u8").tolist()
    newest = max(HEAD_WORDS)
    if len(words) > 1 and words[1] not in HEAD_WORDS:
        raise BadInput(path, 8, f"has version {words[1]}; this program reads up to {newest}")
    if len(words) < HEAD_WORDS[words[1] if len(words) > 1 else newest]:
        raise BadInput(path, len(head), "ends in its header")
    if words[9]:
        raise BadInput(path, 72, f"its counts are wrong: {words[9]} probes did not end")
    return words[: HEAD_WORDS[words[1]]]


def _begins(head: list[int]) -> dict[str, int]:
    """Return the byte at which each kind of rows begins, and the "end" of the file."""
    at, begins = WORD * len(head), dict[str, int]()
    for kind, number in NUMBER_WORDS.items():
        if number < len(head):
            begins[kind] = at
            at += WORD * _width(kind, head) * head[number]
    return begins | {"end": at}


def _width(kind: str, head: list[int]) -> int:
    """Return how many words a row of the kind `kind` has in a file with this header."""
    if kind == "exceptions" and head[VERSION_WORD] == 2:
        return EXCEPTION_WORDS_2
    return ROW_WORDS[kind]

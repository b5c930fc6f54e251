# SPDX-License-Identifier: MIT
"""Build files of the emulator's plugin, as docs/instructions.md describes them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

Block = tuple[int, int, int, int, int]  # start, after, instructions, runs, instructions executed


Mark = tuple[int, int, int, int, int, int]  # all, kernel, probe, user, place, kind
NO_MARK: Mark = (0, 0, 0, 0, 0, 0)


def build(
    path: Path, rows: Sequence[Block], made: Sequence[Mark] = (NO_MARK,), /, **other: int
) -> Path:
    """Write a file with marks, blocks and one access; `other` words of its head differ."""
    head = {
        "version": 1, "marks": len(made), "blocks": len(rows), "accesses": 1, "kernel": 0,
        "probe": 0, "user": 0, "cuts": 0, "faults": 0, "marks_lost": 0, "accesses_lost": 0,
    }  # fmt: skip
    data = b"KBLINSNS" + struct.pack("<11Q", *(head | other).values())
    for mark in made:
        data += struct.pack("<6Q", *mark)
    for row in rows:
        data += struct.pack("<7Q", *row, 77, 770)
    path.write_bytes(data + bytes(5 * 8))
    return path

# SPDX-License-Identifier: MIT
"""Lay out arrows for the jumps inside a function."""

from __future__ import annotations

from typing import NamedTuple

from .instruction_decoding import JUMP
from .instruction_rows import Disassembly

LANES = 6


class Arrow(NamedTuple):
    """An arrow for a jump from the instruction in row `begin` to the one in row `end`.

    Lane 0 is the one next to the text.
    """

    begin: int
    end: int
    lane: int


def arrows_of(shown: Disassembly) -> tuple[Arrow, ...]:
    """Return the arrows of all jumps for which a lane is free; short jumps get theirs first."""
    row_at = {one.address: row for row, one in enumerate(shown.instructions)}
    jumps = [
        (row, row_at[one.target])
        for row, one in enumerate(shown.instructions)
        if one.kind == JUMP and one.target in row_at
    ]
    jumps.sort(key=lambda jump: (abs(jump[0] - jump[1]), jump))
    lanes: list[list[tuple[int, int]]] = [[] for _ in range(LANES)]
    made = []
    for begin, end in jumps:
        low, high = min(begin, end), max(begin, end)
        for lane, taken in enumerate(lanes):
            if all(high < first or low > last for first, last in taken):
                taken.append((low, high))
                made.append(Arrow(begin, end, lane))
                break
    return tuple(made)

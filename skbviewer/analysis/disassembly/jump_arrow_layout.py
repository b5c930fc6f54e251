# SPDX-License-Identifier: MIT
"""Lay out the arrows of the jumps inside a function."""

from __future__ import annotations

from typing import NamedTuple

from .instruction_decoding import JUMP
from .instruction_rows import Disassembly

LANES = 6


class Arrow(NamedTuple):
    """A jump from row `begin` to row `end`; rows are instructions.  Lane 0 is next to the text."""

    begin: int
    end: int
    lane: int


def arrows_of(shown: Disassembly) -> tuple[Arrow, ...]:
    """Return the arrows of all jumps that get a lane; short jumps get their lanes first."""
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

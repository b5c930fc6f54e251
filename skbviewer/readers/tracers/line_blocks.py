# SPDX-License-Identifier: MIT
"""Read a text file in blocks of whole lines; a block takes a limited amount of memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...records import BadInput
from ...records.types import UInt8s
from ..input_file import Source

BLOCK = 1 << 22  # bytes that are read at a time
NEAR = 1 << 14  # last bytes of a block; mostly, a line ends in them
LONGEST = 1 << 26  # most bytes of a line; an event has some kilobytes


class LineBlock(NamedTuple):
    """Whole lines; their bytes `text` begin at position `offset` of the file."""

    offset: int
    text: UInt8s


def line_blocks(data: Source) -> Iterator[LineBlock]:
    """Yield blocks of whole lines; the last line of a file may have no line end.

    A block is valid until the next one is requested.  Raises BadInput if a line has more than
    LONGEST bytes; raises the errors of Source.read().
    """
    # Pages take memory only when they are written, so reserve enough for the longest line.
    scratch = np.empty(min(LONGEST + BLOCK, len(data)), np.uint8)
    begin = held = 0  # position in the file of the bytes in `scratch`, and their number
    checked = -1  # start of the last line whose length was checked
    for at in range(0, len(data), BLOCK):
        new = scratch[held : held + min(BLOCK, len(data) - at)]
        data.fill(new, at)
        whole = held + _after_last_line(new)
        held += len(new)
        if whole > held - len(new):
            yield LineBlock(begin, scratch[:whole])
            rest = held - whole
            scratch[:rest] = scratch[whole:held].copy()
            begin, held = begin + whole, rest
        elif checked != begin:  # a long line: find its end before keeping it
            _check_length(data, begin, at + len(new))
            checked = begin
    if held:
        yield LineBlock(begin, scratch[:held])


def _check_length(data: Source, begin: int, at: int) -> None:
    """Raise BadInput if the line that begins at `begin` has no end within LONGEST bytes.

    Bytes before `at` have been searched already.
    """
    some = np.empty(min(BLOCK, len(data)), np.uint8)
    while at < len(data):
        part = some[: min(BLOCK, len(data) - at)]
        data.fill(part, at)
        found = part.tobytes().find(b"\n")
        at += found if found >= 0 else len(part)
        if at - begin > LONGEST:
            raise BadInput(data.path, begin, f"a line of more than {LONGEST >> 20} MiB")
        if found >= 0:
            return


def _after_last_line(new: UInt8s) -> int:
    """Return the position after the last line end; 0 if there is none."""
    near = max(len(new) - NEAR, 0)
    found = new[near:].tobytes().rfind(b"\n")
    return near + found + 1 if found >= 0 else new.tobytes().rfind(b"\n") + 1

# SPDX-License-Identifier: MIT
"""The lines of a text file, of which none needs much memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...records import BadInput
from ..source import Source

BLOCK = 1 << 20  # bytes that are read at a time
LONGEST = 1 << 26  # bytes of a line: an event has some kilobytes


def lines(data: Source) -> Iterator[tuple[int, bytes]]:
    """(offset, line without its end) of each line that is not blank.

    Raises BadInput if a line has more than LONGEST bytes, or as Source.read() does.
    """
    rest: list[bytes] = []  # of a line whose end is in a later block
    at = held = 0  # where that line begins, and its bytes so far
    for begin in range(0, len(data), BLOCK):
        room = np.empty(min(BLOCK, len(data) - begin), np.uint8)
        data.fill(room, begin)
        *whole, last = room.tobytes().split(b"\n")
        for line in whole:
            joined = b"".join([*rest, line])
            if joined.strip():
                yield at, joined
            at += len(joined) + 1
            rest, held = [], 0
        rest.append(last)
        held += len(last)
        if held > LONGEST:
            raise BadInput(data.path, at, f"a line of more than {LONGEST >> 20} MiB")
    joined = b"".join(rest)
    if joined.strip():
        yield at, joined

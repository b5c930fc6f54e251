# SPDX-License-Identifier: MIT
"""The window scaling that SYN packets offer, from their options in the source files."""

from __future__ import annotations

import numpy as np

from ...records import BadInput, Silent
from ...records.types import Int64s
from .field_source_tables import PACKET, Data, View
from .packet_byte_fields import blocks

END, NOP, WINDOW_SCALE = 0, 1, 3  # RFC 9293, 3.2, and RFC 7323, 2.2
HEADER, LONGEST = 20, 60
MOST_SCALE = 14


def syn_scales(data: Data, rows: Int64s) -> Int64s:
    """Return the shift in each packet's window scale option (0-based rows); -1 = no such option.

    If the source files are gone, every shift is unknown: -1.
    """
    view = View(data, PACKET, rows)
    found = np.full(len(rows), -1, np.int64)
    try:
        for block in blocks(view, Silent()):
            at, end = block.extents["tcp"]
            there = np.flatnonzero((at >= 0) & (end >= at + HEADER))
            stop = at[there] + (block.data[at[there] + 12].astype(np.int64) >> 4) * 4
            begin = at[there] + HEADER
            found[block.rows[there]] = _scales(block.data, begin, np.minimum(stop, end[there]))
    except BadInput:
        return np.full(len(rows), -1, np.int64)
    return found


def _scales(
    data: np.ndarray[tuple[int, ...], np.dtype[np.uint8]], at: Int64s, stop: Int64s
) -> Int64s:
    """Return the shift that each packet's options have; the loop handles all packets at once."""
    found, at = np.full(len(at), -1, np.int64), at.copy()
    for _ in range(LONGEST - HEADER):
        left = np.flatnonzero(at + 2 < stop)
        if not len(left):
            break
        kind = data[at[left]]
        length = np.where(kind == NOP, 1, np.maximum(data[at[left] + 1].astype(np.int64), 2))
        scale = left[kind == WINDOW_SCALE]
        found[scale] = np.minimum(data[at[scale] + 2], MOST_SCALE)
        at[left] = np.where((kind == END) | (kind == WINDOW_SCALE), stop[left], at[left] + length)
    return found

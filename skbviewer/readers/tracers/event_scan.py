# SPDX-License-Identifier: MIT
"""Read JSON events into columns, many events at once, by a compiled loop.

It reads events that are as retis writes them.  Any other one becomes a row OTHER with its bytes,
for event_json.py, which knows all of JSON and says what is wrong.  Both read the same of an event
that this loop reads.
"""

from __future__ import annotations

import numpy as np

from ...records.types import Int64s, UInt8s
from .event_keys import KEYS
from .event_parse_loops import DEEPEST
from .event_rows import RAW_MOST, Scanned
from .event_scan_loops import scan_events
from .event_shape_loops import Shapes, no_shapes
from .json_token_loops import (
    ENDS_RUN,
)


def new_shapes() -> Shapes:
    """Shapes of events, to be kept from pass to pass of one file."""
    return no_shapes(RAW_MOST)


def new_state() -> Int64s:
    """Where a pass begins in a block; the first event of a file is not read by this loop."""
    return np.array([0, 0, 1], np.int64)


def scan(text: UInt8s, state: Int64s, rows: Scanned, shapes: Shapes) -> int:
    """Read events of a block from `state` on, until the rows are full or the block ends.

    Returns how many rows were filled.  The block is done if state[AT] is its length.
    """
    stack = np.zeros((2, DEEPEST), np.int32)
    return int(scan_events(text, state, rows, stack, KEYS, ENDS_RUN, shapes))

# SPDX-License-Identifier: MIT
"""Read JSON events into columns, many events at once, by a compiled loop.

The loop reads events that are written as retis writes them.  Any other event becomes a row OTHER
with its bytes; event_json.py then reads it, or reports what is wrong with it.  If the loop and
event_json.py can both read an event, they return the same values.
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
    """Return an empty table of event shapes; use it in every pass over one file."""
    return no_shapes(RAW_MOST)


def new_state() -> Int64s:
    """Return the state for a new file, whose first event this loop does not read."""
    return np.array([0, 0, 1], np.int64)


def scan(text: UInt8s, state: Int64s, rows: Scanned, shapes: Shapes) -> int:
    """Read events from the block `text` until `rows` is full or the block ends.

    `state` says where to begin, and is updated.  Returns the number of rows filled.  If state[AT]
    is the length of the block after the call, the whole block has been read.
    """
    stack = np.zeros((2, DEEPEST), np.int32)
    return int(scan_events(text, state, rows, stack, KEYS, ENDS_RUN, shapes))

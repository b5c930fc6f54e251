# SPDX-License-Identifier: MIT
"""Read JSON events, one after the other: loops of event_scan.py."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import Int64s, UInt8s
from .event_keys import Keys
from .event_parse_loops import fill_event
from .event_rows import CUT, OTHER, POINT, Places, Scanned
from .event_shape_loops import Shapes
from .event_shape_matching_loops import fill_known_shape
from .json_token_loops import (
    CLOSE_ARRAY,
    COMMA,
    NEWLINE,
    OPEN_ARRAY,
    OPEN_OBJECT,
    after_blanks,
    line_end,
    value_end,
)

# Indices of the state that one pass leaves to the next.
AT, IN_ARRAY, IS_FIRST = 0, 1, 2
NO_EVENT: Int = np.int64(-1)


@allocation_free
def _other(rows: Scanned, count: Int, kind: Int, begin: Int, end: Int) -> None:
    rows.kind[count], rows.begin[count], rows.end[count] = kind, begin, end
    rows.seen[count] = rows.raws[count] = 0


@allocation_free
def _is_point(rows: Scanned, count: Int) -> Int:
    """Return 1 if the event in row `count` is a point, else 0."""
    return np.int64(rows.kind[count] == POINT)


@allocation_free
def scan_events(
    text: UInt8s,
    state: Int64s,
    rows: Scanned,
    stack: Places,
    keys: Keys,
    ends_run: UInt8s,
    shapes: Shapes,
) -> Int:
    """Fill `rows` with the events of the block `text`, as scan() does; return their number.

    `stack` is scratch space; `keys` are the names for which the loop looks.
    """
    at, count = state[AT], np.int64(0)
    while at < len(text) and count < len(rows.kind) - 2:
        at = after_blanks(text, at)
        if at >= len(text):
            break
        c = text[at]
        if state[IN_ARRAY] == 0:
            if c == NEWLINE:
                at += 1
                continue
            if c == OPEN_ARRAY:
                at = after_blanks(text, at + 1)
                if at < len(text) and text[at] == CLOSE_ARRAY:
                    state[IN_ARRAY] = 2
                    at += 1
                else:
                    state[IN_ARRAY] = 1
                continue
            begin, stop = at, NO_EVENT
            if c == OPEN_OBJECT and state[IS_FIRST] == 0:
                stop = fill_known_shape(text, at, rows, count, shapes, keys, ends_run)
                if stop < 0:
                    stop = fill_event(text, at, rows, count, stack, keys, ends_run, shapes)
                if stop >= 0:
                    stop = after_blanks(text, stop)
                    if stop < len(text) and text[stop] != NEWLINE:
                        stop = NO_EVENT
            state[IS_FIRST] = 0
            if stop >= 0:
                count += _is_point(rows, count)
                at = stop
            else:
                at = line_end(text, begin)
                _other(rows, count, OTHER, begin, at)
                count += 1
            continue
        if state[IN_ARRAY] == 2:  # after the array's end
            if c != NEWLINE:
                begin, at = at, line_end(text, at)
                _other(rows, count, OTHER, begin, at)
                count += 1
            state[IN_ARRAY] = 0
            continue
        if c == NEWLINE:  # the line ends before the array does
            _other(rows, count, CUT, at, at)
            count += 1
            state[IN_ARRAY] = 0
            continue
        begin, stop = at, NO_EVENT
        if c == OPEN_OBJECT and state[IS_FIRST] == 0:
            stop = fill_known_shape(text, at, rows, count, shapes, keys, ends_run)
            if stop < 0:
                stop = fill_event(text, at, rows, count, stack, keys, ends_run, shapes)
        state[IS_FIRST] = 0
        if stop >= 0:
            count += _is_point(rows, count)
            at = stop
        else:
            at = value_end(text, begin)
            _other(rows, count, OTHER, begin, at)
            count += 1
        at = after_blanks(text, at)
        if at < len(text) and text[at] == COMMA:
            at += 1
        elif at < len(text) and text[at] == CLOSE_ARRAY:
            state[IN_ARRAY] = 2
            at += 1
        elif at < len(text) and text[at] != NEWLINE:  # no JSON from here on
            begin, at = at, line_end(text, at)
            _other(rows, count, OTHER, begin, at)
            count += 1
            state[IN_ARRAY] = 0
        else:  # the row of the truncated event reports this
            if stop >= 0:
                _other(rows, count, CUT, at, at)
                count += 1
            state[IN_ARRAY] = 0
    if at >= len(text) and state[IN_ARRAY] == 1:
        _other(rows, count, CUT, at, at)
        count += 1
    if at >= len(text):
        state[IN_ARRAY] = 0
    state[AT] = at
    return count

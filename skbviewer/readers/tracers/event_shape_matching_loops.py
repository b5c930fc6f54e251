# SPDX-License-Identifier: MIT
"""Read events whose shapes are known: loops of event_shape_loops.py."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import UInt8s
from .event_keys import FIRST_TEXT, Keys
from .event_rows import Scanned
from .event_shape_loops import (
    COUNT,
    LAST,
    MINUS,
    RAWS,
    ROW_KIND,
    SEEN,
    TEXT,
    USED,
    VALUES,
    Shapes,
    is_same,
    whole_number,
)
from .json_token_loops import run_end


@allocation_free
def _fill_shape(
    text: UInt8s,
    begin: Int,
    rows: Scanned,
    row: Int,
    shapes: Shapes,
    shape: Int,
    first: Int,
    keys: Keys,
    ends_run: UInt8s,
) -> tuple[Int, Int]:
    """Return the position after an event, and how many of its values were read.

    The position is -1 if the event does not have this shape.  The first `first` values have been
    read already.
    """
    facts, known, ends = shapes.facts[shape], shapes.text[shape], shapes.end[shape]
    kinds, places, starts = shapes.kind[shape], shapes.place[shape], shapes.starts
    count = facts[COUNT]
    at = np.int64(starts[first]) if first > 0 else begin
    done = np.int64(ends[first - 1]) if first > 0 else np.int64(0)
    for n in range(first, count + 1):
        end = np.int64(ends[n])
        if at + end - done + 8 > len(text) or not is_same(text, at, known, done, end):
            return np.int64(-1), n
        starts[n] = at
        at, done = at + end - done, end
        if n == count:
            break
        place, value = np.int64(places[n]), at
        if kinds[n] == TEXT:
            at = run_end(text, at, ends_run)
            if place >= 0:
                rows.texts[row, place - FIRST_TEXT, 0] = value
                rows.texts[row, place - FIRST_TEXT, 1] = at
        else:
            if at < len(text) and text[at] == MINUS and place < 0:
                at += 1
            at, number, fits = whole_number(text, at)
            if at < 0:
                return np.int64(-1), np.int64(VALUES)
            if place >= 0:
                if fits == 0 or number > keys.limit[place]:
                    return np.int64(-1), np.int64(VALUES)
                rows.numbers[row, place] = number
        starts[n + 1] = at
    for one in range(facts[RAWS]):
        for side in range(2):
            value = np.int64(shapes.raw[shape, one, 2 * side])
            rows.raw[row, one, side] = starts[value] + shapes.raw[shape, one, 2 * side + 1]
    rows.raws[row], rows.seen[row] = facts[RAWS], facts[SEEN]
    rows.kind[row], rows.begin[row], rows.end[row] = facts[ROW_KIND], begin, at
    return at, count


@allocation_free
def fill_known_shape(
    text: UInt8s, begin: Int, rows: Scanned, row: Int, shapes: Shapes, keys: Keys, ends_run: UInt8s
) -> Int:
    """Fill row `row` like fill_event() if the event at `begin` has a known shape.

    Returns the position after the event, or -1 if its shape is unknown.
    """
    state = shapes.state
    if state[USED] == 0:
        return np.int64(-1)
    shape = shapes.after[state[LAST]]
    at, done = _fill_shape(text, begin, rows, row, shapes, shape, np.int64(0), keys, ends_run)
    turn = np.int64(0)
    while at < 0 and turn < state[USED]:
        # The values that both shapes have in common have been read.
        if turn != shape and shapes.same[shape, turn] >= done:
            at, more = _fill_shape(text, begin, rows, row, shapes, turn, done, keys, ends_run)
            if at >= 0 or more > done:
                shape, done, turn = turn, more, np.int64(-1)
        turn += 1
    if at >= 0:
        shapes.after[state[LAST]] = shape
        state[LAST] = shape
    return at

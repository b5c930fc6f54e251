# SPDX-License-Identifier: MIT
"""Parse one JSON event into a row, if it is written as retis writes events.

event_json.py must read an event with escapes in strings, bytes beyond ASCII, a repeated key, wrong
types, numbers out of range, a section without a required value, or broken JSON.
"""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free
from ...records.types import UInt8s
from .event_keys import FIRST_TEXT, LONGEST_KEY, STARTUP, Keys, section_number
from .event_rows import CUT, POINT, RAW_MOST, Places, Scanned
from .event_shape_loops import (
    BEGIN,
    COUNT,
    END,
    KIND,
    MOST,
    NUMBER,
    PLACE,
    RAWS,
    ROW_KIND,
    SEEN,
    TEXT,
    VALUES,
    Shapes,
    learn,
)
from .json_token_loops import (
    CLOSE_ARRAY,
    CLOSE_OBJECT,
    COLON,
    COMMA,
    OPEN_ARRAY,
    OPEN_OBJECT,
    QUOTE,
    after_blanks,
    json_number,
    key_row,
    literal_end,
    run_end,
)

DEEPEST = 32  # nested containers
SMALL_T, SMALL_F, SMALL_N = 116, 102, 110
KEY_OR_END, KEY, VALUE_OR_END, VALUE, AFTER = 0, 1, 2, 3, 4
ROOT = 0
KERNEL, USER = section_number("kernel"), section_number("userspace")


@allocation_free
def fill_event(
    text: UInt8s,
    at: Int,
    rows: Scanned,
    row: Int,
    stack: Places,
    keys: Keys,
    ends_run: UInt8s,
    shapes: Shapes,
) -> Int:
    """Fill row `row` with the event at byte `at` of `text`; return the position after it.

    Returns -1 if event_json.py must read the event.  The row's kind is POINT if the event has a
    probe.  `stack` is scratch space.
    """
    values, count = shapes.values, np.int64(0)
    kinds, sections = stack[0], stack[1]
    rows.begin[row], rows.raws[row] = at, 0
    seen, needed, met = np.int64(0), np.int64(0), np.int64(0)
    depth, raw_depth, raw_begin = np.int64(0), np.int64(-1), at
    kinds[0], sections[0] = OPEN_OBJECT, ROOT
    expect, place, opens, is_raw = KEY_OR_END, np.int64(-1), np.int64(-1), np.int64(0)
    key_begin = at
    at += 1
    while True:
        at = after_blanks(text, at)
        if at >= len(text):
            return np.int64(-1)
        c = text[at]
        if expect in (KEY_OR_END, KEY):
            if c == QUOTE:
                key_begin = at
                at = run_end(text, at + 1, ends_run)
                if at + LONGEST_KEY > len(text) or text[at] != QUOTE:  # no event ends that soon
                    return np.int64(-1)
                place, opens, is_raw = np.int64(-1), np.int64(-1), np.int64(0)
                if sections[depth] >= 0:
                    found = key_row(text, key_begin + 1, at, np.int64(sections[depth]), keys)
                    if found >= 0:
                        place, opens = np.int64(keys.place[found]), np.int64(keys.opens[found])
                        is_raw = np.int64(keys.is_raw[found])
                    elif depth == 0:
                        is_raw = np.int64(1)
                at = after_blanks(text, at + 1)
                if at >= len(text) or text[at] != COLON or place == STARTUP:
                    return np.int64(-1)
                at += 1
                expect = VALUE
                continue
            if c != CLOSE_OBJECT or expect == KEY:
                return np.int64(-1)
        elif expect == AFTER:
            if c == COMMA:
                expect = KEY if kinds[depth] == OPEN_OBJECT else VALUE
                place, opens, is_raw = np.int64(-1), np.int64(-1), np.int64(0)
                at += 1
                continue
            if c != CLOSE_OBJECT and c != CLOSE_ARRAY:
                return np.int64(-1)
        elif c != CLOSE_ARRAY or expect == VALUE:  # a value
            if c in (OPEN_OBJECT, OPEN_ARRAY):
                depth += 1
                if depth >= DEEPEST or place >= 0 or (opens >= 0 and c == OPEN_ARRAY):
                    return np.int64(-1)
                kinds[depth], sections[depth] = c, opens
                if opens >= 0:
                    if met >> opens & 1:
                        return np.int64(-1)
                    met |= np.int64(1) << opens
                    needed |= keys.required[opens]
                if is_raw == 1:
                    if raw_depth >= 0 or rows.raws[row] >= RAW_MOST:
                        return np.int64(-1)
                    raw_depth, raw_begin = depth, key_begin
                place, opens, is_raw = np.int64(-1), np.int64(-1), np.int64(0)
                expect = KEY_OR_END if c == OPEN_OBJECT else VALUE_OR_END
                at += 1
                continue
            if opens >= 0 or is_raw == 1:
                return np.int64(-1)
            begin = at
            if c == QUOTE:
                at = run_end(text, at + 1, ends_run)
                if at >= len(text) or text[at] != QUOTE:
                    return np.int64(-1)
                if place >= 0:
                    if place < FIRST_TEXT or seen >> place & 1:
                        return np.int64(-1)
                    rows.texts[row, place - FIRST_TEXT, 0] = begin + 1
                    rows.texts[row, place - FIRST_TEXT, 1] = at
                if count < VALUES:
                    values[count, BEGIN], values[count, END] = begin + 1, at
                    values[count, KIND], values[count, PLACE] = TEXT, place
                count += 1
                at += 1
            elif c in (SMALL_T, SMALL_F, SMALL_N):
                at = literal_end(text, at)
                if at < 0 or place >= 0:
                    return np.int64(-1)
            else:
                at, number, known, whole = json_number(text, at)
                if at < 0:
                    return np.int64(-1)
                if count < VALUES:
                    values[count, BEGIN], values[count, END] = begin, at
                    values[count, KIND], values[count, PLACE] = NUMBER, place
                count += 1 if whole == 1 else VALUES
                if place >= 0:
                    if place >= FIRST_TEXT or known == 0 or seen >> place & 1:
                        return np.int64(-1)
                    if number > keys.limit[place]:
                        return np.int64(-1)
                    rows.numbers[row, place] = number
            if place >= 0:
                seen |= np.int64(1) << place
            expect = AFTER
            continue
        # The end of a container.
        if (c == CLOSE_OBJECT) != (kinds[depth] == OPEN_OBJECT):
            return np.int64(-1)
        at += 1
        if depth == raw_depth:
            rows.raw[row, rows.raws[row], 0], rows.raw[row, rows.raws[row], 1] = raw_begin, at
            rows.raws[row] += 1
            raw_depth = np.int64(-1)
        depth -= 1
        expect = AFTER
        if depth < 0:
            break
    if seen & needed != needed:
        return np.int64(-1)
    is_probe = met >> KERNEL & 1 or met >> USER & 1
    rows.kind[row] = POINT if is_probe else CUT
    rows.seen[row], rows.end[row] = seen, at
    if count < VALUES:
        facts = shapes.facts[MOST]
        facts[COUNT], facts[RAWS], facts[SEEN], facts[ROW_KIND] = (
            count, np.int64(rows.raws[row]), seen, np.int64(rows.kind[row]),
        )  # fmt: skip
        learn(text, rows.begin[row], at, count, rows.raw[row], facts, shapes)
    return at

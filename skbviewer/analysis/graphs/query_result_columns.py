# SPDX-License-Identifier: MIT
"""Columns of a query's result as arrays, for pictures: pairs of numbers, and spans of time.

Input: the names of the columns, and rows of numbers, texts and None.  Output: arrays that are at
most as long as the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...records.types import Float64s, Int64s
from ..timeline.row_stacking import stack

Cell = int | float | str | None
Rows = Sequence[Sequence[Cell]]

# Names of columns that make a lane; the first one that the result has is used.
TIMES = ("time", "time_ns", "ts_ns", "entry_ns", "begin_ns")
DURATIONS = ("duration", "duration_ns", "dur_ns")
ENDS = ("end", "end_ns", "exit_ns")
NAMES = ("name", "function", "kind", "event", "reason")
BARS = 50  # rows that are shown as bars with a text each
WIDEST = 1 << 62  # ns; no time is farther from 0


class Pairs(NamedTuple):
    """Points, or bars if there are `labels`; `row` is the row that a point has in the result.

    If `x` are times, `first` was subtracted from them; otherwise `first` is 0.
    """

    x: Float64s
    y: Float64s
    row: Int64s
    labels: tuple[str, ...]
    first: int


class Spans(NamedTuple):
    """Spans of time (ns), sorted by begin, as arrays of equal length.

    `line` is the line in which a span is drawn; no span in a line hides another.  `name` is an
    index of `names`.  The name whose spans have the longest total is the first.  If the result has
    no column of names, the only name is "".  `row` is the row that the span has in the result.
    `begin` counts from the time `first`.
    """

    first: int
    begin: Int64s
    dur: Int64s
    line: Int64s
    name: Int64s
    names: tuple[str, ...]
    row: Int64s


def number_columns(columns: Sequence[str], rows: Rows) -> list[str]:
    """Return the names of the columns that contain a number, and nothing but numbers and None."""
    found = []
    for at, name in enumerate(columns):
        kinds = {type(row[at]) for row in rows} - {type(None)}
        if kinds and kinds <= {int, float}:
            found.append(name)
    return found


def text_columns(columns: Sequence[str], rows: Rows) -> list[str]:
    """Return the names of the columns that contain a text, and nothing but texts and None."""
    kinds = [{type(row[at]) for row in rows} - {type(None)} for at in range(len(columns))]
    return [name for name, each in zip(columns, kinds, strict=True) if each == {str}]


def pairs(columns: Sequence[str], rows: Rows, x: str, y: str) -> Pairs:
    """Return a point for each row that has numbers in the columns `x` and `y`.

    If the column `x` has texts, return a bar for each text instead.
    """
    over, value = columns.index(x), columns.index(y)
    if x in text_columns(columns, rows):
        some = [at for at, row in enumerate(rows) if _is_point(row[value])][:BARS]
        labels = tuple(str(rows[one][over] or "") for one in some)
        bars = np.array([rows[one][value] for one in some], np.float64)
        place = np.arange(len(some))
        return Pairs(place.astype(np.float64), bars, np.array(some, np.int64), labels, 0)
    both = [at for at, row in enumerate(rows) if _is_point(row[over]) and _is_point(row[value])]
    first = min((_whole(rows[one][over]) for one in both), default=0) if x in TIMES else 0
    left = np.array([_exact(rows[one][over]) - first for one in both], np.float64)
    values = np.array([rows[one][value] for one in both], np.float64)
    return Pairs(left, values, np.array(both, np.int64), (), first)


def _is_point(value: Cell) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _exact(value: Cell) -> int | float:
    return value if isinstance(value, int | float) else 0


def _whole(value: Cell) -> int:
    return round(_exact(value))


def spans(columns: Sequence[str], rows: Rows) -> Spans | None:
    """Return a span for each row that has a time; None if no column has a name in TIMES."""
    time, length, end, name = (_first(columns, of) for of in (TIMES, DURATIONS, ENDS, NAMES))
    if time is None:
        return None
    row = np.array([at for at, one in enumerate(rows) if _is_time(one[time])], np.int64)
    if not len(row):
        return None
    begin = _integers(rows, row, time)
    dur = np.zeros(len(row), np.int64)
    if length is not None:
        dur = _integers(rows, row, length)
    elif end is not None:
        ends = _integers(rows, row, end)
        dur = np.where(ends != 0, ends - begin, 0)
    dur = np.maximum(dur, 0)
    order = np.lexsort((-dur, begin))
    row, begin, dur = row[order], begin[order], dur[order]
    number, names = _named(rows, row, name, dur)
    first = int(begin[0])
    line = stack(begin, dur).astype(np.int64)
    return Spans(first, begin - first, dur, line, number, names, row)


def _first(columns: Sequence[str], wanted: Sequence[str]) -> int | None:
    return next((columns.index(name) for name in wanted if name in columns), None)


def _is_time(value: Cell) -> bool:
    return isinstance(value, int | float) and -WIDEST < value < WIDEST


def _integers(rows: Rows, which: Int64s, at: int) -> Int64s:
    """Return the numbers in column `at` of the rows `which`; 0 where there is no time."""
    values = (rows[one][at] for one in which.tolist())
    return np.array([_whole(one) if _is_time(one) else 0 for one in values], np.int64)


def _named(
    rows: Rows, which: Int64s, at: int | None, dur: Int64s
) -> tuple[Int64s, tuple[str, ...]]:
    if at is None:
        return np.zeros(len(which), np.int64), ("",)
    texts = np.array(["" if (v := rows[one][at]) is None else str(v) for one in which.tolist()])
    names, number = np.unique(texts, return_inverse=True)
    weight = np.bincount(number.reshape(-1), weights=dur + 1.0)  # spans of length 0 count, too
    order = np.argsort(-weight, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[number.reshape(-1)], tuple(names[order].tolist())

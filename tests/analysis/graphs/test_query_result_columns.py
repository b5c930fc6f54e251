# SPDX-License-Identifier: MIT
"""The columns of a query's result as points, bars and spans."""

from __future__ import annotations

import pytest

from skbviewer.analysis.graphs.query_result_columns import (
    BARS,
    Cell,
    number_columns,
    pairs,
    spans,
    text_columns,
)


@pytest.fixture(autouse=True)
def version() -> None:
    """Override the two versions: no log is read."""


COLUMNS = ("text", "n", "real", "mixed", "empty")
ROWS: list[list[Cell]] = [
    ["a", 1, 0.5, "x", None],
    ["b", None, 2, 3, None],
    [None, 3, -1.5, None, None],
]


def test_kinds_of_columns() -> None:
    assert number_columns(COLUMNS, ROWS) == ["n", "real"]
    assert text_columns(COLUMNS, ROWS) == ["text"]
    assert number_columns(COLUMNS, []) == text_columns(COLUMNS, []) == []


def test_points_have_both_numbers() -> None:
    made = pairs(COLUMNS, ROWS, "n", "real")
    assert (made.x.tolist(), made.y.tolist()) == ([1, 3], [0.5, -1.5])
    assert (made.row.tolist(), made.labels, made.first) == ([0, 2], (), 0)


def test_numbers_that_no_axis_has() -> None:
    made = pairs(("x", "y"), [[1, float("inf")], [float("nan"), 2], [3, 4]], "x", "y")
    assert (made.x.tolist(), made.y.tolist()) == ([3], [4])


def test_times_count_from_the_first_one() -> None:
    """Floats cannot hold nanoseconds since 1970."""
    at = 1_700_000_000_000_000_000
    made = pairs(("ts_ns", "n"), [[at + 5, 1], [at + 2, 2]], "ts_ns", "n")
    assert (made.first, made.x.tolist()) == (at + 2, [3, 0])


def test_texts_make_bars() -> None:
    made = pairs(COLUMNS, ROWS, "text", "real")
    assert made.labels == ("a", "b", "")
    assert (made.x.tolist(), made.y.tolist()) == ([0, 1, 2], [0.5, 2, -1.5])
    many = pairs(("t", "n"), [[str(n), n] for n in range(BARS + 9)], "t", "n")
    assert len(many.x) == len(many.labels) == BARS


def test_spans_do_not_hide_each_other() -> None:
    rows: list[list[Cell]] = [
        [7300, 50, "in"],
        [7100, 900, "out"],
        [7200, 300, "in"],
        [None, 5, "no time"],
        ["text", 5, "no time"],
        [8200, None, None],
    ]
    made = spans(("entry_ns", "dur_ns", "function"), rows)
    assert made is not None
    assert made.first == 7100 and made.begin.tolist() == [0, 100, 200, 1100]
    assert made.dur.tolist() == [900, 300, 50, 0]
    assert made.line.tolist() == [0, 1, 2, 0]
    assert made.row.tolist() == [1, 2, 0, 5]
    assert [made.names[at] for at in made.name.tolist()] == ["out", "in", "in", ""]
    assert made.names[0] == "out"  # together the longest


def test_ends_instead_of_durations() -> None:
    made = spans(("begin_ns", "end_ns"), [[10, 30], [40, None], [50, 45]])
    assert made is not None
    assert made.dur.tolist() == [20, 0, 0] and made.names == ("",)


@pytest.mark.parametrize(
    ("columns", "rows"),
    [(("n",), [[1]]), (("time",), []), (("time",), [[None], ["x"], [1 << 63], [float("nan")]])],
)
def test_no_times(columns: tuple[str, ...], rows: list[list[Cell]]) -> None:
    assert spans(columns, rows) is None

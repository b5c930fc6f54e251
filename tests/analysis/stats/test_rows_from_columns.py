# SPDX-License-Identifier: MIT
"""Rows that are kept as columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skbviewer.analysis.stats.rows_from_columns import (
    ColumnRows,
    Numbers,
    Objects,
    Texts,
    column_of,
    joined,
    values_of,
)

ROWS: list[tuple[Any, ...]] = [
    (3, 1.5, "b", (1, 2), None, "x", True),
    (None, None, None, (), None, "x", False),
    (1 << 62, -2.0, "a", None, None, 7, True),
]
COLUMNS = [list(values) for values in zip(*ROWS, strict=True)]


def test_rows_are_what_they_were() -> None:
    made = ColumnRows.of(ROWS, 7)
    assert [type(one) for one in made.columns] == [
        Numbers, Numbers, Texts, Objects, Objects, Objects, Objects,
    ]  # fmt: skip
    assert list(made) == ROWS == [made[at] for at in range(3)] and len(made) == 3
    assert made == ROWS and made != ROWS[:2] and made != [*ROWS[:2], ROWS[0]] and made != 5
    assert made[-1] == ROWS[-1] and made[1:] == ROWS[1:] and made[::-1] == ROWS[::-1]
    assert made.taken(np.array([2, 0, 0])) == [ROWS[2], ROWS[0], ROWS[0]]
    assert [[type(one) for one in row] for row in made] == [
        [type(one) for one in row] for row in ROWS
    ]
    assert ColumnRows.of(made, 7) is made
    with pytest.raises(IndexError):
        made[3]


def test_a_table_without_rows() -> None:
    made = ColumnRows.of([], 3)
    assert len(made) == 0 and list(made) == [] and made == [] and len(made.columns) == 3
    assert not any(made.has_values(at) for at in range(3))
    assert made.with_text(0, "x").tolist() == []


def test_texts_are_found() -> None:
    made = ColumnRows.of(ROWS, 7)
    assert made.with_text(2, "a").tolist() == [2] and made.with_text(2, "c").tolist() == []
    assert made.with_text(0, "3").tolist() == []  # no column of texts
    assert [made.has_values(at) for at in range(7)] == [True, True, True, True, False, True, True]
    twice = ColumnRows([Texts(np.array([0, 1, -1], np.int32), ("a", "a"))])
    assert twice.with_text(0, "a").tolist() == [0, 1] and list(twice) == [("a",), ("a",), (None,)]


@pytest.mark.parametrize("values", COLUMNS, ids=str)
@pytest.mark.parametrize("others", [[], [None, None], [5], [2.5], ["b", None], [(9,)]], ids=str)
def test_columns_one_after_the_other(values: list[Any], others: list[Any]) -> None:
    both = joined([column_of(values), column_of(others), column_of(values)])
    wanted = [*values, *others, *values]
    assert values_of(both) == wanted
    kinds = {type(one) for one in wanted if one is not None}
    if kinds <= {int} or kinds <= {float}:
        assert [type(one) for one in values_of(both)] == [type(one) for one in wanted]

# SPDX-License-Identifier: MIT
"""Rows of joined tables are found by their keys, whatever values these have."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.store.views.view_rows import JoinKeys

FULL = np.iinfo(np.int64)
COLUMNS = {
    "near": [3, 1, 2, -1, 100],
    "far": [FULL.min, FULL.max, 0, 4026532253, -1879260420],
    "equal": [7, 7, 7, 7, 7],
}


@pytest.mark.parametrize("second", COLUMNS)
@pytest.mark.parametrize("first", ["near", "far"])
def test_rows_are_those_of_a_dictionary(first: str, second: str) -> None:
    columns = [np.array(COLUMNS[name], np.int64) for name in (first, second)]
    place = {pair: row for row, pair in enumerate(zip(*(c.tolist() for c in columns), strict=True))}
    values = sorted({value for column in COLUMNS.values() for value in column} | {5, -2, 1 << 40})
    wanted = [(one, two) for one in values for two in values]
    asked = [np.array(column, np.int64) for column in zip(*wanted, strict=True)]
    found = JoinKeys(columns).rows(asked)
    assert found.tolist() == [place.get(pair, -1) for pair in wanted]
    assert (found >= 0).sum() == 5


def test_an_empty_table_has_no_row() -> None:
    empty = [np.zeros(0, np.int64)] * 2
    assert JoinKeys(empty).rows([np.array([0, 1])] * 2).tolist() == [-1, -1]
    full = JoinKeys([np.array([4, 5])])
    assert full.rows([np.zeros(0, np.int64)]).tolist() == []

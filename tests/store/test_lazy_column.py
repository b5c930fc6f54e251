# SPDX-License-Identifier: MIT
"""A column that is read in parts gives the values of the whole one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.store import Builder, Columns, open_session, schema
from skbviewer.store.column_chunks import CHUNK
from skbviewer.store.lazy_column import LazyColumn
from skbviewer.store.running_sums import RunningSums

COUNTS = (3 * CHUNK + 77, 2 * CHUNK, 1, 0)
Int64s = npt.NDArray[np.int64]


@pytest.fixture(scope="module", params=COUNTS)
def stored(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Columns, Int64s]:
    """The columns of a session with a random column, of which a chunk is constant."""
    path = tmp_path_factory.mktemp("lazy") / "a.skbv"
    values = np.random.default_rng(2).integers(0, 5, request.param)
    values[CHUNK : 2 * CHUNK] = 1
    with Builder(path) as builder:
        zeros = {name: np.zeros(len(values), np.int64) for name in schema.match.names}
        builder.add_array(schema.match, zeros | {"leg": values})
        builder.finish()
    return Columns(open_session(path)), values


def places(count: int) -> list[Int64s]:
    """Rows of a table with `count` rows: none, single ones, neighbours, far apart, unordered."""
    drawn = np.random.default_rng(3).integers(0, max(count, 1), min(count, 40))
    near = np.arange(max(0, CHUNK - 5), min(count, CHUNK + 5))
    return [np.zeros(0, np.int64), near, np.sort(drawn), drawn, np.arange(count)]


def test_rows_and_slices(stored: tuple[Columns, Int64s]) -> None:
    columns, values = stored
    column = LazyColumn(columns, "match", "leg")
    assert len(column) == len(values)
    for rows in places(len(values)):
        assert column[rows].tolist() == values[rows].tolist()
        assert [int(column[int(row)]) for row in rows[:9]] == values[rows[:9]].tolist()
    for part in (slice(None), slice(5, 9), slice(CHUNK - 2, 2 * CHUNK + 2), slice(3, 1)):
        assert column[part].tolist() == values[part].tolist()
    assert np.array_equal(column, values)


def test_few_rows_do_not_read_the_whole_column(
    stored: tuple[Columns, Int64s], monkeypatch: pytest.MonkeyPatch
) -> None:
    columns, values = stored
    monkeypatch.setattr(Columns, "array", lambda *_: pytest.fail("the whole column was read"))
    column = LazyColumn(columns, "match", "leg")
    for rows in places(len(values))[1:4]:
        if len(rows) * 16 < len(values):
            assert column[rows].tolist() == values[rows].tolist()
            few = np.unique(values[rows])
            found, which = column.rows_with(few)
            assert found.tolist() == np.flatnonzero(np.isin(values, few)).tolist()
            assert which.tolist() == values[found].tolist()


def test_running_sums(stored: tuple[Columns, Int64s]) -> None:
    columns, values = stored
    column = LazyColumn(columns, "match", "leg")
    sums, expected = RunningSums(column, column.chunk_sums()), np.r_[0, np.cumsum(values)]
    assert len(sums) == len(expected)
    for rows in (*places(len(values)), np.array([len(values)])):
        assert sums[rows].tolist() == expected[rows].tolist()
    for part in (slice(2, 7), slice(CHUNK - 2, 2 * CHUNK + 2), slice(None)):
        assert sums[part].tolist() == expected[part].tolist()
    assert np.array_equal(sums, expected)

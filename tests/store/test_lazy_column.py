# SPDX-License-Identifier: MIT
"""A column that is read in parts gives the values of the whole one."""

from __future__ import annotations

from pathlib import Path

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
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Int64s]:
    """A session with a random column, of which a chunk is constant."""
    path = tmp_path_factory.mktemp("lazy") / "a.skbv"
    values = np.random.default_rng(2).integers(0, 5, request.param)
    values[CHUNK : 2 * CHUNK] = 1
    with Builder(path) as builder:
        zeros = {name: np.zeros(len(values), np.int64) for name in schema.match.names}
        builder.add_array(schema.match, zeros | {"leg": values})
        builder.finish()
    return path, values


@pytest.fixture
def stored(made: tuple[Path, Int64s]) -> tuple[Columns, Int64s]:
    """The columns of the session, of which nothing is in memory, and the random column."""
    return Columns(open_session(made[0])), made[1]


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
    for row in (-1, len(values)):
        with pytest.raises(IndexError):
            column[row]


def test_a_slice_reads_only_its_chunks(
    made: tuple[Path, Int64s], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the whole column is too large to be kept."""
    path, values = made
    monkeypatch.setattr("skbviewer.store.lazy_column.SHORT", 10)
    monkeypatch.setattr(Columns, "array", lambda *_: pytest.fail("the whole column was read"))
    column = LazyColumn(Columns(open_session(path), 1), "match", "leg")
    for part in (slice(0, 8), slice(CHUNK - 20, CHUNK + 20), slice(CHUNK + 5, 2 * CHUNK + 9)):
        assert column[part].tolist() == values[part].tolist()


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
    for row in (-1, len(expected)):
        with pytest.raises(IndexError):
            sums[np.array([row])]
    asked = np.sort(np.random.default_rng(4).integers(0, max(int(expected[-1]), 1), 50))
    if expected[-1]:
        last = np.searchsorted(expected, asked, "right") - 1
        assert sums.last_not_above(asked).tolist() == last.tolist()

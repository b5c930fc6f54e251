# SPDX-License-Identifier: MIT
"""Column chunks give back what the tables hold."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from skbviewer.store import Builder, Columns, open_session, schema
from skbviewer.store.column_chunks import CHUNK

Values = npt.NDArray[np.generic]
LOW, HIGH = -(1 << 63), (1 << 63) - 1


def session(path: Path, *parts: dict[str, Values]) -> Columns:
    """A session whose match table has the columns of the parts, others 0."""
    with Builder(path) as builder:
        for part in parts:
            count = len(next(iter(part.values())))
            names = schema.match.names
            zeros: dict[str, Values] = {name: np.zeros(count, np.int64) for name in names}
            builder.add_array(schema.match, zeros | part)
        builder.finish()
    return Columns(open_session(path))


@pytest.mark.parametrize(
    "values",
    [
        np.array([7, 7, 7]),
        np.array([-1, 254]),
        np.array([-1, 255], np.int16),
        np.array([-128, 127], np.int8),
        np.array([0, 255], np.uint8),
        np.array([1 << 60, (1 << 60) + 65535]),
        np.array([-(1 << 31), (1 << 31) - 1], np.int32),
        np.array([0, 1 << 32]),
        np.array([LOW, HIGH, -1, 0]),
        np.array([LOW, LOW + 5]),
        np.array([True, False]),
    ],
)
def test_any_width(tmp_path: Path, values: Values) -> None:
    columns = session(tmp_path / "a.skbv", {"leg": values})
    assert columns.array("match", "leg").tolist() == values.astype(np.int64).tolist()
    with open_session(tmp_path / "a.skbv").connect() as db:
        rows = db.exec_driver_sql("SELECT leg FROM match ORDER BY id").scalars().all()
    assert rows == values.astype(np.int64).tolist()


def test_the_smallest_signed_type(tmp_path: Path) -> None:
    values = {
        "packet": np.array([0, 127]),
        "leg": np.array([0, 128]),
        "rung": np.array([-1, 40000]),
    }
    columns = session(tmp_path / "a.skbv", values)
    found = [columns.array("match", name).dtype for name in ("packet", "leg", "rung")]
    assert found == [np.int8, np.int16, np.int32]


@pytest.mark.parametrize("numbers", [[0.25, -1.5, 1e300], [0.5, 0.5, 0.5], [2.0]])
def test_real_numbers(tmp_path: Path, numbers: list[float]) -> None:
    values = np.array(numbers)
    columns = session(tmp_path / "a.skbv", {"confidence": values})
    assert columns.array("match", "confidence").tolist() == values.tolist()


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, npt.NDArray[np.int64]]:
    """A session of three chunks and a bit, added in uneven parts, and the column `leg`."""
    path = tmp_path_factory.mktemp("long") / "a.skbv"
    values = np.random.default_rng(1).integers(-5, 1 << 40, 3 * CHUNK + 77)
    ends = [0, 1, CHUNK - 3, 2 * CHUNK + 9, len(values)]
    parts: list[dict[str, Values]] = [{"leg": values[a:b]} for a, b in pairwise(ends)]
    session(path, *parts)
    return path, values


def test_many_chunks(long: tuple[Path, npt.NDArray[np.int64]]) -> None:
    columns, values = Columns(open_session(long[0])), long[1]
    assert columns.length("match") == len(values)
    assert np.array_equal(columns.array("match", "leg"), values)
    with open_session(long[0]).connect() as db:
        firsts = "SELECT first, count FROM chunk WHERE column_name = 'leg' ORDER BY id"
        found = [tuple(row) for row in db.exec_driver_sql(firsts)]
    assert found == [(0, CHUNK), (CHUNK, CHUNK), (2 * CHUNK, CHUNK), (3 * CHUNK, 77)]


@pytest.mark.parametrize("whole", [True, False], ids=["the column is kept", "only chunks"])
def test_parts_and_single_rows(long: tuple[Path, npt.NDArray[np.int64]], whole: bool) -> None:
    columns, values = Columns(open_session(long[0])), long[1]
    if whole:
        columns.array("match", "leg")
    for first, count in ((0, 5), (CHUNK - 2, 4), (CHUNK, CHUNK), (5, 2 * CHUNK), (0, 0)):
        part = columns.part("match", "leg", first, count)
        assert np.array_equal(part, values[first : first + count])
    end = len(values)
    assert np.array_equal(columns.part("match", "leg", end - 3, 100), values[-3:])
    assert not len(columns.part("match", "leg", end + CHUNK, 5))
    rows = np.array([end - 1, 0, CHUNK, CHUNK - 1, 0])
    assert np.array_equal(columns.take("match", "leg", rows), values[rows])
    assert not len(columns.take("match", "leg", np.zeros(0, np.int64)))
    with pytest.raises(IndexError):
        columns.take("match", "leg", np.array([end]))


def test_many_rows_of_a_short_range_are_taken_without_the_whole_column(
    long: tuple[Path, npt.NDArray[np.int64]],
) -> None:
    values = long[1]
    columns = Columns(open_session(long[0]))
    rows = np.arange(CHUNK - 300, CHUNK + 300)[::-3]  # in two chunks
    assert np.array_equal(columns.take("match", "leg", rows), values[rows])
    assert ("match", "leg", -1) not in columns._kept
    with pytest.raises(IndexError):
        columns.take("match", "leg", np.arange(-1, 9))


def test_what_is_kept_stays_in_its_budget(long: tuple[Path, npt.NDArray[np.int64]]) -> None:
    values = long[1]
    columns = Columns(open_session(long[0]), budget=3 * CHUNK * 8)
    for first in range(0, len(values), CHUNK):
        assert columns.part("match", "leg", first, 9).tolist() == values[first : first + 9].tolist()
    assert columns.array("match", "leg").nbytes > 3 * CHUNK * 8  # too large to be kept, but given
    assert sum(array.nbytes for array in columns._kept.values()) <= 3 * CHUNK * 8


def test_arrays_are_shared_and_read_only(long: tuple[Path, npt.NDArray[np.int64]]) -> None:
    columns = Columns(open_session(long[0]))
    array = columns.array("match", "leg")
    assert columns.array("match", "leg") is array
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_tables_without_rows_and_names_that_do_not_exist(tmp_path: Path) -> None:
    columns = session(tmp_path / "a.skbv")
    assert columns.length("packet") == 0
    assert columns.array("packet", "ts").tolist() == []
    assert "ts" in columns.names("packet")
    for table, column in (("packet", "nothing"), ("task", "pid")):
        with pytest.raises(KeyError):
            columns.array(table, column)


def test_pieces_and_once_keep_nothing(tmp_path: Path) -> None:
    whole = np.arange(2 * CHUNK + 7)
    columns = session(tmp_path / "a.skbv", {"leg": whole})
    for _ in range(2):  # the second time of what is kept
        parts = list(columns.pieces("match", "leg", "packet"))
        assert [first for first, _ in parts] == [0, CHUNK, 2 * CHUNK]
        assert np.array_equal(np.concatenate([leg for _, (leg, _) in parts]), whole)
        assert all(len(leg) == len(packet) for _, (leg, packet) in parts)
        once = columns.once("match", "leg")
        assert np.array_equal(once, whole)
        columns.array("match", "leg")
    assert columns.once("match", "leg") is columns.array("match", "leg")


@pytest.mark.parametrize("few", [0, 64])
def test_rows_with_values(
    long: tuple[Path, npt.NDArray[np.int64]], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skbviewer.store.whole_columns.FEW", few)
    path, values = long
    columns = Columns(open_session(path))
    asked = np.unique(np.r_[values[[0, 7, CHUNK - 1, CHUNK, -1]], 1 << 50, -9, values[CHUNK + 5]])
    rows, found = columns.rows_with("match", "leg", asked)
    assert rows.tolist() == np.flatnonzero(np.isin(values, asked)).tolist()
    assert found.tolist() == values[rows].tolist()
    near = np.arange(int(values[3]) - 2, int(values[3]) + 3)
    rows, _ = columns.rows_with("match", "leg", near)
    assert rows.tolist() == np.flatnonzero(np.isin(values, near)).tolist()
    nothing, _ = columns.rows_with("match", "leg", near[:0])
    assert not len(nothing)


@pytest.mark.parametrize("rows", [[0], [3, 4, 5], [2, CHUNK + 1, 3 * CHUNK + 76], []])
def test_near_rows(long: tuple[Path, npt.NDArray[np.int64]], rows: list[int]) -> None:
    path, values = long
    columns = Columns(open_session(path))
    for some in (np.array(rows, np.int64), np.arange(5, 2 * CHUNK + 9)):
        assert columns.near("match", "leg", some).tolist() == values[some].tolist()


def test_rows_at_work_between_two_times(tmp_path: Path) -> None:
    """Whole chunks are returned, but none in which no row is at work then."""
    begin = np.arange(3 * CHUNK) * 10
    made: dict[str, Values] = {"packet": begin, "rung": np.full(len(begin), 25)}
    columns = session(tmp_path / "a.skbv", made)
    first, last = CHUNK + 7, CHUNK + 9
    times = int(begin[first]), int(begin[last])
    found = columns.rows_during("match", "packet", ("packet", "rung"), times)
    assert found.tolist() == list(range(CHUNK, 2 * CHUNK))
    edge = int(begin[CHUNK]) + 5  # rows of the chunk before are at work, too
    found = columns.rows_during("match", "packet", ("packet", "rung"), (edge, edge))
    assert found.tolist() == list(range(2 * CHUNK))

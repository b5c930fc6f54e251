# SPDX-License-Identifier: MIT
"""Compiled loops find in columns what numpy finds, whatever their type and place in memory."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.store.btree.index_order import in_order
from skbviewer.store.btree.typed_column_loops import Values, bounds, stage
from skbviewer.store.btree.typed_columns import MEMORY, Sources, StagedColumns
from skbviewer.store.column_chunks import CHUNK, Packer, pack, unpack

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "?"]


def some(dtype: str, count: int) -> Values:
    dice = np.random.default_rng(count)
    if dtype == "?":
        return dice.integers(0, 2, count) > 0
    limits = np.iinfo(dtype)
    return dice.integers(limits.min, limits.max, count, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("count", [1, 7, 4097])
def test_values_are_read_as_they_are(dtype: str, count: int) -> None:
    values = some(dtype, count)
    apart = np.zeros(2 * count, values.dtype)[::2]
    apart[:] = values
    columns = Sources([values, apart, values.astype(values.dtype.newbyteorder(">"))])
    for column in range(3):
        found = tuple(map(int, bounds(MEMORY, columns.places, column, 0, count)))
        assert found == (int(values.min()), int(values.max()))
        out = np.empty(count, np.int64)
        stage(MEMORY, columns.places, column, count // 2, count - count // 2, out)
        assert out[: count - count // 2].tolist() == values[count // 2 :].tolist()


def test_one_value_repeated_takes_no_memory() -> None:
    columns = Sources([np.broadcast_to(np.int64(-7), (1 << 40,))])
    found = bounds(MEMORY, columns.places, 0, 1 << 39, 1 << 39)
    assert tuple(map(int, found)) == (-7, -7)


@pytest.mark.parametrize("dtype", [*INTEGERS, "f8"])
@pytest.mark.parametrize("span", [0, 1, 255, 256, 65_535, 65_536, (1 << 32) - 1, 1 << 32])
def test_chunks_hold_the_values(dtype: str, span: int) -> None:
    low, high = (0, 1) if dtype == "?" else (-100, span - 100) if dtype == "f8" else limited(dtype)
    values = np.array([low, min(low + span, high), low] * 3000).astype(dtype)
    chunk = pack("t", "c", 5, values)
    out = np.empty(len(values), np.float64 if dtype == "f8" else np.int64)
    unpack(chunk.dtype, chunk.low, bytes(chunk.data), out)
    assert out.tolist() == values.tolist()
    assert (chunk.first, chunk.number) == (5, 9000)


def limited(dtype: str) -> tuple[int, int]:
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def test_known_bounds_change_no_chunk() -> None:
    columns: dict[str, Values] = {"a": some("i4", CHUNK), "b": np.arange(CHUNK) * 0.5}
    sources = Sources(list(columns.values()))
    limits = np.array([[columns["a"].min(), columns["a"].max()], [0, 0]], np.int64)
    staged = StagedColumns(sources, {"a": 0, "b": 1}, limits)
    known, found = Packer("t", ("b", "a")), Packer("t", ("b", "a"))
    for _ in range(2):
        assert list(known.add(columns, staged)) == list(found.add(columns))
    assert list(known.finish()) == []


KEYS = {
    "one": [5],
    "rising": [-3, -3, 0, 7, 7, 9],
    "few": [4, 1, 4, 1, 0, 4],
    "below zero": [-1, 3, -1, -9, 3],
    "far apart": [1 << 40, -(1 << 40), 7, 1 << 40],
    "as far as it goes": [(1 << 63) - 1, -(1 << 63), 0],
}


@pytest.mark.parametrize("values", KEYS.values(), ids=KEYS)
def test_the_order_of_an_index(values: list[int]) -> None:
    key = np.array(values)
    order = np.lexsort([key])
    keys, rows = in_order([key])
    assert (keys.tolist(), rows.tolist()) == (key[order].tolist(), (order + 1).tolist())


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
@pytest.mark.parametrize("count", [4095, 4096, 4097, 20_000])
def test_the_order_of_many_keys(dtype: str, count: int) -> None:
    key = (np.arange(count) * 7919 % 97).astype(dtype)
    order = np.lexsort([key])
    for values in (key, np.sort(key), np.r_[np.sort(key)[:-1], key[:1]]):
        order = np.lexsort([values])
        keys, rows = in_order([values])
        assert np.array_equal(keys, values[order])
        assert np.array_equal(rows, order + 1)


def test_the_order_of_two_keys() -> None:
    first, second = np.array([2, 1, 2, 1]), np.array([0, 5, -1, 4])
    made = in_order([first, second])
    assert [values.tolist() for values in made] == [[1, 1, 2, 2], [4, 5, -1, 0], [4, 2, 3, 1]]

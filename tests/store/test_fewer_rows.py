# SPDX-License-Identifier: MIT
"""Columns without some rows of a table are those of a session that does not have these rows."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.store import Columns
from skbviewer.store.column_chunks import CHUNK
from skbviewer.store.fewer_rows import FewerRows

from .test_whole_columns import Values, session

TABLE = "match"
SIZE = 3 * CHUNK + 1000


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[FewerRows, Columns]:
    """Return columns without about a third of their rows, and the columns of the other rows."""
    rng = np.random.default_rng(7)
    leg, packet = np.sort(rng.integers(0, 1 << 20, SIZE)), rng.integers(-1, 1 << 40, SIZE)
    kept = np.flatnonzero(rng.random(SIZE) > 0.3).astype(np.int32)
    kept = kept[(kept < 1000) | (kept > CHUNK + 500)]  # a chunk has no row left
    folder = tmp_path_factory.mktemp("fewer")
    stored = session(folder / "a.skbv", {"leg": leg, "packet": packet})
    rung = rng.integers(0, 9, len(kept))
    replaced = {(TABLE, "rung"): rung}
    fewer = FewerRows(stored, TABLE, kept, frozenset(replaced), lambda: replaced)
    given: dict[str, Values] = {"leg": leg[kept], "packet": packet[kept], "rung": rung}
    return fewer, session(folder / "b.skbv", given)


@pytest.mark.parametrize("name", ["leg", "packet", "rung"])
def test_reading(both: tuple[FewerRows, Columns], name: str) -> None:
    fewer, plain = both
    size = plain.length(TABLE)
    assert fewer.length(TABLE) == size
    rows = np.sort(np.random.default_rng(1).choice(size, 50, replace=False))
    wanted = plain.array(TABLE, name)[rows[::5]]
    for ask in (
        lambda of: of.once(TABLE, name),
        lambda of: of.array(TABLE, name),
        lambda of: of.part(TABLE, name, CHUNK - 5, 20),
        lambda of: of.part(TABLE, name, size - 3, 20),
        lambda of: of.block(TABLE, name, 100, 2 * CHUNK),
        lambda of: of.block(TABLE, name, size, 10),
        lambda of: of.take(TABLE, name, rows[::-1]),
        lambda of: of.near(TABLE, name, rows),
        lambda of: of.near(TABLE, name, rows[:0]),
        lambda of: of.rows_with(TABLE, name, np.unique(wanted))[0],
        lambda of: of.rows_with(TABLE, name, np.unique(wanted))[1],
        lambda of: np.concatenate([part for _, (part,) in of.pieces(TABLE, name)]),
        lambda of: [first for first, _ in of.pieces(TABLE, name)],
    ):
        assert np.array_equal(ask(fewer), ask(plain))
    low, high = fewer.bounds(TABLE, name)
    assert low <= int(plain.array(TABLE, name).min()) <= int(plain.array(TABLE, name).max()) <= high


def test_rows_near_a_time(both: tuple[FewerRows, Columns]) -> None:
    """They contain whole chunks, but of the kept rows only, and all that are meant."""
    fewer, plain = both
    leg = plain.array(TABLE, "leg")
    for low, high in ((0, 100), (1 << 19, (1 << 19) + 9)):
        meant = np.flatnonzero((leg >= low) & (leg <= high))
        found = fewer.rows_within(TABLE, "leg", [(low, high)])
        assert set(meant.tolist()) <= set(found.tolist()) and np.all(np.diff(found) > 0)
        assert found.max() < len(leg) and len(found) < len(leg)


def test_rows_of_the_file(both: tuple[FewerRows, Columns]) -> None:
    fewer, plain = both
    rows = np.arange(plain.length(TABLE))
    stored = fewer.stored_rows(TABLE, rows)
    assert np.array_equal(fewer._stored.take(TABLE, "leg", stored), plain.array(TABLE, "leg"))
    assert plain.stored_rows(TABLE, rows) is rows
    with pytest.raises(IndexError):
        fewer.take(TABLE, "leg", np.array([len(rows)]))

# SPDX-License-Identifier: MIT
"""Records held by columns look like rows of RECORD_DTYPE."""

from __future__ import annotations

import numpy as np
import pytest

from skbviewer.records import (
    FOOTPRINT_DTYPE,
    RECORD_DTYPE,
    RecordTable,
    empty,
    no_footprints,
    pick,
)

NAMES = RECORD_DTYPE.names or ()
OWN = [name for name in NAMES if name not in (FOOTPRINT_DTYPE.names or ())]


@pytest.fixture
def table() -> RecordTable:
    columns = {name: np.arange(4, dtype=np.uint8) + len(name) for name in OWN}
    footprints = no_footprints(2)
    footprints["saddr_lo"][:] = [0, 10, 20]
    footprints["ip_version"][:] = [0, 4, 4]
    return RecordTable(columns, np.array([0, 2, 1, 2], np.int32), footprints)


def test_columns_have_the_types_of_the_rows(table: RecordTable) -> None:
    assert len(table) == 4
    for name in NAMES:
        assert table[name].dtype == RECORD_DTYPE[name], name
    assert table["ts"].tolist() == [2, 3, 4, 5]
    assert table["saddr_lo"].tolist() == [0, 20, 10, 20]
    assert table.part("saddr_lo", np.array([3, 2])).tolist() == [20, 10]


def test_rows_are_those_of_the_columns(table: RecordTable) -> None:
    whole = table[:]
    assert whole.dtype == RECORD_DTYPE
    for name in NAMES:
        assert whole[name].tolist() == table[name].tolist(), name
    index = np.array([2, 0])
    assert pick(table, index).tolist() == pick(whole, index).tolist() == table[index].tolist()
    assert table[table["ip_version"] == 4].tolist() == whole[1:].tolist()
    assert table[-1] == whole[-1]
    assert table[["ts", "ip_id"]].tolist() == whole[["ts", "ip_id"]].tolist()


def test_row_0_of_the_footprints_knows_nothing(table: RecordTable) -> None:
    unknown = empty(RECORD_DTYPE, 1)[0]
    for name in FOOTPRINT_DTYPE.names or ():
        assert table[0][name] == unknown[name], name

# SPDX-License-Identifier: MIT
"""The rows that queries return have the columns of their tables, in the same order."""

from __future__ import annotations

import pytest

from skbviewer.store import rows, schema
from skbviewer.store.table_declarations import Table

TABLES: dict[type[tuple[object, ...]], Table] = {
    rows.StoredSource: schema.source,
    rows.StoredPacket: schema.packet,
    rows.StoredSeries: schema.series,
    rows.StoredLeg: schema.leg,
    rows.StoredMoment: schema.moment,
    rows.StoredAddress: schema.address,
    rows.StoredWait: schema.wait,
    rows.StoredCall: schema.call,
    rows.StoredDrop: schema.drop,
    rows.StoredChange: schema.change,
    rows.StoredSyscall: schema.syscall,
    rows.StoredEvent: schema.event,
    rows.StoredClock: schema.clock,
    rows.StoredTimebase: schema.timebase,
    rows.StoredOneWay: schema.oneway,
    rows.StoredBound: schema.oneway_bound,
    rows.StoredNote: schema.annotation,
}
ADDED: dict[type[tuple[object, ...]], tuple[str, ...]] = {  # by queries
    rows.StoredLeg: ("verdict", "rung", "confidence", "delta_ns", "relation"),
    rows.StoredCall: ("function", "takes"),
    rows.StoredEvent: ("drop", "change", "syscall", "name"),
}


@pytest.mark.parametrize("row", TABLES, ids=lambda row: str(row.__name__))
def test_a_row_has_the_columns_of_its_table(row: type[tuple[object, ...]]) -> None:
    fields = tuple(row.__annotations__)
    assert fields == ("id", *TABLES[row].names, *ADDED.get(row, ()))

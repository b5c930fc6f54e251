# SPDX-License-Identifier: MIT
"""The rows that queries return have the columns of their tables, in the same order."""

from __future__ import annotations

import pytest

from skbviewer.store import query_rows, schema
from skbviewer.store.table_declarations import Table

TABLES: dict[type[tuple[object, ...]], Table] = {
    query_rows.StoredSource: schema.source,
    query_rows.StoredPacket: schema.packet,
    query_rows.StoredSeries: schema.series,
    query_rows.StoredLeg: schema.leg,
    query_rows.StoredMoment: schema.moment,
    query_rows.StoredAddress: schema.address,
    query_rows.StoredWait: schema.wait,
    query_rows.StoredCall: schema.call,
    query_rows.StoredDrop: schema.drop,
    query_rows.StoredChange: schema.change,
    query_rows.StoredSyscall: schema.syscall,
    query_rows.StoredEvent: schema.event,
    query_rows.StoredClock: schema.clock,
    query_rows.StoredTimebase: schema.timebase,
    query_rows.StoredOneWay: schema.oneway,
    query_rows.StoredBound: schema.oneway_bound,
    query_rows.StoredNote: schema.annotation,
}
ADDED: dict[type[tuple[object, ...]], tuple[str, ...]] = {  # by queries
    query_rows.StoredLeg: ("verdict", "rung", "confidence", "delta_ns", "relation"),
    query_rows.StoredCall: ("function", "takes"),
    query_rows.StoredEvent: ("drop", "change", "syscall", "name"),
}


@pytest.mark.parametrize("row", TABLES, ids=lambda row: str(row.__name__))
def test_a_row_has_the_columns_of_its_table(row: type[tuple[object, ...]]) -> None:
    fields = tuple(row.__annotations__)
    assert fields == ("id", *TABLES[row].names, *ADDED.get(row, ()))

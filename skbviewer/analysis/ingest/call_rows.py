# SPDX-License-Identifier: MIT
"""Write calls, losses and other records of a KBL as rows of a session's tables.

Input: records, and the tables that were made from them.  Output: rows of the session's tables.
`first` has, for each table, the number of rows that were stored before.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...matching import SeriesTable, record_blocks, rows_where
from ...records import ColumnTable, KernelLog, Records, part, parts, scratch_of
from ...store import BulkRows, NewRows, of_columns, schema
from ..calls.call_table import CallTable
from ..calls.record_loss_times import LOST, losses
from ..leg_times.busy_and_wait_times import Spent

Columns = dict[str, npt.NDArray[np.generic]]


def row_ids(rows: npt.NDArray[np.integer], before: int) -> npt.NDArray[np.int64]:
    """Return the ids of `rows` (0-based) in a table that already has `before` rows; -1 stays -1."""
    made: npt.NDArray[np.int64] = np.add(rows, before + 1, dtype=np.int64)
    made[rows < 0] = -1
    return made


def constant_column(value: int, count: int) -> npt.NDArray[np.int64]:
    """Return a column of `count` equal values; it takes no memory."""
    return np.broadcast_to(np.int64(value), count)


def record_rows(
    source: int,
    log: KernelLog,
    series: SeriesTable,
    calls: CallTable,
    events: ColumnTable,
    first: dict[str, int],
) -> tuple[NewRows, NewRows]:
    """Return rows of table `record`, for records that no other table has, and of table `loss`.

    `first` has, for each table, the number of rows that were stored before.
    """
    records = log.records
    kept = _rest(records, calls, events)

    def make(rows: slice) -> Columns:
        scratch_of(records).passed()
        some = kept[rows].astype(np.int64)
        columns: Columns = dict(parts(records, schema.RECORD_COLUMNS.names or (), some))
        columns["series"] = row_ids(series.of[some], first["series"])
        columns["source"] = constant_column(source, len(some))
        return columns

    lost: Columns = dict(losses(log, missed=True)._asdict())
    lost["source"] = constant_column(source, len(lost["ts"]))
    return BulkRows(schema.record, len(kept), make), of_columns(schema.loss, lost)


def _rest(records: Records, calls: CallTable, events: ColumnTable) -> npt.NDArray[np.int32]:
    """Return the records that are neither calls, nor events, nor losses."""
    rest = scratch_of(records).full(len(records), np.bool_, 1)
    for some in calls.passing():
        rest[calls.part("entry", some)] = False
    for some in record_blocks(records, len(events)):
        rest[events["record"][some]] = False
    rest[rows_where(records, lambda some: part(records, "kind", some) == LOST)] = False
    return rows_where(records, lambda some: rest[some]).astype(np.int32)


def call_rows(calls: CallTable, first: dict[str, int]) -> NewRows:
    """Return the calls of one log as rows of table `call`.

    `first` has, for each table, the number of rows that were stored before.
    """

    def make(rows: slice) -> Columns:
        calls.scratch.passed()
        columns: Columns = dict(calls.columns(rows))
        columns["leg"] = row_ids(calls.stored("leg")[rows], first["leg"])
        columns["parent"] = row_ids(calls.stored("parent")[rows], first["call"])
        return columns

    return BulkRows(schema.call, len(calls), make)


def wait_rows(spent: Spent, first: dict[str, int]) -> NewRows:
    """Return rows of table `wait`: when each leg of a log was not busy, and why.

    `first` has, for each table, the number of rows that were stored before.
    """
    columns = {name: getattr(spent, name) for name in ("kind", "begin_ns", "end_ns")}
    return of_columns(schema.wait, columns | {"leg": row_ids(spent.leg, first["leg"])})

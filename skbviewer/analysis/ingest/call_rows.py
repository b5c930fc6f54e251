# SPDX-License-Identifier: MIT
"""Calls and losses of a KBL, and records that are neither calls nor events, as a session's rows.

Input: records and the tables made from them.  Output: rows of a session.  `first` has, by table,
the number of rows that are stored already.
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
    """Return the ids of 0-based `rows` in a table with `before` stored rows; -1 stays -1."""
    made: npt.NDArray[np.int64] = np.add(rows, before + 1, dtype=np.int64)
    made[rows < 0] = -1
    return made


def constant_column(value: int, count: int) -> npt.NDArray[np.int64]:
    """Return a column of `count` rows that all have the value `value`; it takes no memory."""
    return np.broadcast_to(np.int64(value), count)


def record_rows(
    source: int,
    log: KernelLog,
    series: SeriesTable,
    calls: CallTable,
    events: ColumnTable,
    first: dict[str, int],
) -> tuple[NewRows, NewRows]:
    """Return the rows of tables `record` and `loss`; `record` has the records of no other table.

    `first` has, by table, the number of rows that are stored already.
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
    """Return records that are neither calls, nor events, nor losses."""
    rest = scratch_of(records).full(len(records), np.bool_, 1)
    for some in calls.passing():
        rest[calls.part("entry", some)] = False
    for some in record_blocks(records, len(events)):
        rest[events["record"][some]] = False
    rest[rows_where(records, lambda some: part(records, "kind", some) == LOST)] = False
    return rows_where(records, lambda some: rest[some]).astype(np.int32)


def call_rows(calls: CallTable, first: dict[str, int]) -> NewRows:
    """Return the calls of one log as rows of table `call`.

    `first` has, by table, the number of rows that are stored already.
    """

    def make(rows: slice) -> Columns:
        calls.scratch.passed()
        columns: Columns = dict(calls.columns(rows))
        columns["leg"] = row_ids(calls.stored("leg")[rows], first["leg"])
        columns["parent"] = row_ids(calls.stored("parent")[rows], first["call"])
        return columns

    return BulkRows(schema.call, len(calls), make)


def wait_rows(spent: Spent, first: dict[str, int]) -> NewRows:
    """Return rows of table `wait`: when the legs of one log were not busy, and why.

    `first` has, by table, the number of rows that are stored already.
    """
    columns = {name: getattr(spent, name) for name in ("kind", "begin_ns", "end_ns")}
    return of_columns(schema.wait, columns | {"leg": row_ids(spent.leg, first["leg"])})

# SPDX-License-Identifier: MIT
"""Write the legs and skb lifetimes of a KBL as rows, after all captures have been matched."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...matching import LEG_DTYPE, LegTable
from ...records import POINTS_GAP, SAMPLED_GAP
from ...store import BulkRows, NewRows, schema
from ..leg_times.incomplete_legs import begun_late
from ..leg_times.packet_time_loops import NAMES as SPENT
from ..leg_times.packet_times import sums
from .call_rows import Columns, constant_column, row_ids
from .capture_matches import SeriesVerdicts
from .kernel_only_rows import Ids
from .processed_log import FollowedLog


def leg_rows(made: FollowedLog) -> NewRows:
    """Return the legs of a log as rows of table `leg`; they are computed when they are written.

    `made` is what the import has found in the log.
    """
    first, legs = made.first, made.kernel_side.legs.rows

    def make(some: slice) -> Columns:
        made.scratch.passed()
        columns: Columns = dict(legs.parts(LEG_DTYPE.names or (), some))
        columns["source"] = constant_column(made.source, len(columns["series"]))
        columns["series"] = row_ids(legs.stored("series")[some], first["series"])
        columns["pid"], columns["drop_reason"] = made.pid[some], made.drop_reason[some]
        late = begun_late(made.kernel_side.log, np.asarray(legs.stored("kind")[some]))
        columns["gap"] = np.where(late, SAMPLED_GAP, made.spent.gap[some]).astype(np.uint8)
        if not made.kernel_side.log.returns:
            columns["gap"] = constant_column(POINTS_GAP, len(columns["series"]))
            columns["functions"] = constant_column(-1, len(columns["series"]))
        columns["busy_ns"], columns["unknown_ns"] = made.spent.busy[some], made.spent.unknown[some]
        columns["cpu_ns"] = made.spent.cpu[some]
        return columns

    return BulkRows(schema.leg, len(legs), make)


def series_rows(made: FollowedLog, verdicts: SeriesVerdicts, kernel_only: Ids) -> NewRows:
    """Return the skb lifetimes of a log as rows of table `series`.

    `verdicts` and `kernel_only` have an element for each lifetime.  `kernel_only` is n if the
    lifetime is row K<n> of the packet list, otherwise -1.
    """
    series, summary, before = made.kernel_side.series, made.summary, made.first["series"]
    begin, functions = _sums(made.kernel_side.legs, made.spent.gap)
    of_series = np.asarray(made.kernel_side.legs.rows["series"], np.int64)
    times = sums(of_series, np.arange(len(of_series)), made.spent, len(series.parent))

    def make(some: slice) -> Columns:
        made.scratch.passed()
        columns: Columns = {name: values[some] for name, values in verdicts._asdict().items()}
        columns |= {
            "source": constant_column(made.source, len(columns["verdict"])),
            "parent": row_ids(series.parent[some], before),
            "tap": series.tap[some].astype(np.int64),
            "begin_ns": begin[some],
            "end_ns": summary.end_ns[some],
            "skb": summary.skb[some],
            "kernel_only": kernel_only[some],
            "functions": functions[some],
            "ordinal": summary.ordinal[some],
            "identity": summary.identity[some],
        }
        columns |= {name: ns[some] for name, ns in zip(SPENT, times, strict=True)}
        return columns | summary.columns(some)

    return BulkRows(schema.series, len(series.parent), make)


def _sums(legs: LegTable, gap: npt.NDArray[np.bool_]) -> tuple[Ids, Ids]:
    """Return for each lifetime its begin (ns), and the number of its functions.

    The number is -1 if records of the lifetime may be lost.
    """
    rows = legs.rows
    if not len(rows):
        return (np.zeros(0, np.int64),) * 2
    first = np.flatnonzero(np.r_[True, np.diff(rows["series"]) != 0])
    functions = np.add.reduceat(rows["functions"].astype(np.int64), first)
    lost = np.logical_or.reduceat(gap, first)
    return rows["begin_ns"][first], np.where(lost, -1, functions)

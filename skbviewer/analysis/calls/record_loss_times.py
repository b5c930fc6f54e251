# SPDX-License-Identifier: MIT
"""When each CPU lost records: losses that the recorder reported, and gaps in the file.

Input: a KBL.  Output: columns of table `loss`, and a test whether records were lost in a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...matching import rows_where
from ...records import HOLE, Hole, KernelLog, part
from ...records.types import EARLIEST_NS, Bools, Int64s

LOST = 5  # kbl.h enum kbl_kind
MISSED = 2  # enum kbl_lost


class Losses(NamedTuple):
    """Losses on one CPU (-1: any) from `ts` - `dur` to `ts`, in ns on the log's clock.

    `flags` is the kind of loss: a number of kbl.h's enum kbl_lost, or HOLE.  `ordinal` is the
    number of the LOST record; for a gap in the file it is -1.  `data` is the number of lost
    records; for a gap in the file, it is the least possible number.
    """

    ordinal: Int64s
    ts: Int64s
    dur: Int64s
    cpu: Int64s
    data: Int64s
    flags: Int64s


def losses(log: KernelLog, missed: bool = False) -> Losses:
    """Return all losses: first LOST records in order of time, then gaps in the file.

    If `missed` is set, calls that were missed by probes are losses, too; their CPU is unknown.
    """
    records = log.records
    lost = rows_where(records, lambda some: part(records, "kind", some) == LOST)
    if not missed:
        lost = lost[part(records, "flags", lost) != MISSED]
    recorded = {name: part(records, name, lost).astype(np.int64) for name in Losses._fields}
    recorded["cpu"][recorded["flags"] == MISSED] = -1
    made = np.array([_of_hole(hole) for hole in log.holes], np.int64).reshape(-1, 6).T
    return Losses(*(np.concatenate(both) for both in zip(recorded.values(), made, strict=True)))


def spans_of(found: Losses) -> Spans:
    """Return the times of the losses `found`, whichever CPU lost records."""
    begin = found.ts - np.maximum(found.dur, 0)
    return Spans(list(zip(begin.tolist(), found.ts.tolist(), strict=True)))


def _of_hole(hole: Hole) -> tuple[int, ...]:
    return -1, hole.end, hole.end - hole.begin, hole.cpu, hole.lost, HOLE


class Spans:
    """The times when any CPU of a KBL lost records, so that it is uncertain where packets were."""

    def __init__(self, spans: Sequence[tuple[int, int]] = ()) -> None:
        """Use the times `spans`: (begin_ns, end_ns) on the KBL's clock."""
        begin, end = np.array(sorted(spans), np.int64).reshape(-1, 2).T
        self.begins = np.ascontiguousarray(begin)
        self.ends = np.maximum.accumulate(end)  # latest end of this span and all spans before it

    def __len__(self) -> int:
        return len(self.begins)

    def meet(self, begin: Int64s, end: Int64s) -> Bools:
        """Return for each i whether records were lost from begin[i] to end[i] (ns, inclusive)."""
        before = np.searchsorted(self.begins, end, "right")  # losses that began by then
        latest = np.concatenate([[EARLIEST_NS], self.ends])[before]
        return np.asarray(latest >= begin, np.bool_)

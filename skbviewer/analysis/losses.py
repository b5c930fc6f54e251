# SPDX-License-Identifier: MIT
"""When which CPU lost records: what the recorder tells, and holes in the file.

In: a KBL.  Out: columns of table `loss`; and of times that are asked for, which lack records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..matching import found
from ..records import HOLE, Hole, KernelLog, part

LOST = 5  # kbl.h enum kbl_kind
MISSED = 2  # enum kbl_lost
NEVER = np.iinfo(np.int64).min

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Losses(NamedTuple):
    """Each on one CPU (-1: any) from `ts` - `dur` to `ts`; `flags` is why: enum kbl_lost, or HOLE.

    `ordinal` is of the LOST record; a hole has none (-1).  `data` is how many records, of a hole
    at least.
    """

    ordinal: Index
    ts: Index
    dur: Index
    cpu: Index
    data: Index
    flags: Index


def losses(log: KernelLog, missed: bool = False) -> Losses:
    """All losses: LOST records by time, then the file's holes.

    Not of what probes missed, one function's hits on no known CPU, but if `missed` is set.
    """
    records = log.records
    lost = found(records, lambda some: part(records, "kind", some) == LOST)
    if not missed:
        lost = lost[part(records, "flags", lost) != MISSED]
    told = {name: part(records, name, lost).astype(np.int64) for name in Losses._fields}
    told["cpu"][told["flags"] == MISSED] = -1
    made = np.array([_of_hole(hole) for hole in log.holes], np.int64).reshape(-1, 6).T
    return Losses(*(np.concatenate(both) for both in zip(told.values(), made, strict=True)))


def spans_of(found: Losses) -> Spans:
    """When there were any, on whatever CPU."""
    begin = found.ts - np.maximum(found.dur, 0)
    return Spans(list(zip(begin.tolist(), found.ts.tolist(), strict=True)))


def _of_hole(hole: Hole) -> tuple[int, ...]:
    return -1, hole.end, hole.end - hole.begin, hole.cpu, hole.lost, HOLE


class Spans:
    """When any CPU of a KBL lost records: where a packet was meanwhile nobody knows."""

    def __init__(self, spans: Sequence[tuple[int, int]] = ()) -> None:
        """`spans` are (begin_ns, end_ns) of the KBL's clock."""
        begin, end = np.array(sorted(spans), np.int64).reshape(-1, 2).T
        self.begins = np.ascontiguousarray(begin)
        self.ends = np.maximum.accumulate(end)  # of it and all before

    def __len__(self) -> int:
        return len(self.begins)

    def meet(self, begin: Index, end: Index) -> Flags:
        """Whether records were lost between these times, or at one of them."""
        before = np.searchsorted(self.begins, end, "right")  # begun by then
        latest = np.concatenate([[NEVER], self.ends])[before]
        return np.asarray(latest >= begin, np.bool_)

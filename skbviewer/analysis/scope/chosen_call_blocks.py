# SPDX-License-Identifier: MIT
"""Read the chosen calls block by block, so that no column of all calls is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...records.types import Int64s
from ...store.whole_columns import Array
from ..parallel_blocks import each_made
from .chosen_legs_and_calls import Scope

BLOCK = 1 << 17  # calls that are read together
LEG = "leg"


class CallBlock(NamedTuple):
    """Consecutive chosen calls; all chosen calls of a leg are in the same block.

    `row` is the row of each call in table call (0-based, rising).  `first` is the index of the
    block's first call among all chosen calls.  `columns` are the columns that the caller asked for,
    as int64.
    """

    first: int
    row: Int64s
    leg: Int64s  # 0-based
    columns: dict[str, Int64s]

    def places(self, rows: Int64s) -> Int64s:
        """Return the index that each of the calls `rows` has in this block; -1 = not in it."""
        count = len(self.row)
        if not count:
            return np.full(len(rows), -1, np.int64)
        if int(self.row[-1] - self.row[0]) == count - 1:
            at = rows - self.row[0]
            return np.where((at >= 0) & (at < count), at, -1)
        at = np.minimum(np.searchsorted(self.row, rows), count - 1)
        return np.where(self.row[at] == rows, at, -1)


def call_blocks(scope: Scope, *names: str) -> Iterator[CallBlock]:
    """Yield the chosen calls with the columns `names`, in blocks of whole legs.

    Raises Cancelled.
    """
    left = [np.zeros(0, np.int64) for _ in range(len(names) + 2)]
    first, total = 0, scope.columns.length("call")
    for part in _parts(scope, names):
        scope.progress.report("Counting", int(part[0][0]) if len(part[0]) else 0, total)
        joined = [np.concatenate(both) for both in zip(left, part, strict=True)] if len(
            left[0]) else part  # fmt: skip
        leg = joined[1]
        end = int(np.searchsorted(leg, leg[-1])) if len(leg) else 0
        if end:
            yield _block(first, [column[:end] for column in joined], names)
        first += end
        left = [column[end:] for column in joined]
    if len(left[0]):
        yield _block(first, left, names)


def _block(first: int, columns: list[Int64s], names: tuple[str, ...]) -> CallBlock:
    row, leg, *others = columns
    return CallBlock(first, row, leg - 1, dict(zip(names, others, strict=True)))


def _parts(scope: Scope, names: tuple[str, ...]) -> Iterator[list[Int64s]]:
    """Yield rows, legs (from 1) and columns of chosen calls; a leg may be in two blocks."""
    columns = scope.columns
    if scope.has_few_calls:
        rows = scope.call_rows
        yield [rows, *(_int64s(columns.near("call", name, rows)) for name in (LEG, *names))]
        return
    calls = scope.calls
    count = scope.call_count

    def read(first: int) -> list[Int64s]:
        mine = calls[first : first + BLOCK]
        values = (columns.block("call", name, first, len(mine)) for name in (LEG, *names))
        if count == len(calls) or mine.all():
            return [np.arange(first, first + len(mine)), *map(_int64s, values)]
        at = np.flatnonzero(mine)
        return [at + first, *(_int64s(one[at]) for one in values)]

    yield from each_made(read, range(0, len(calls), BLOCK))


def _int64s(values: Array) -> Int64s:
    return np.array(values, np.int64)  # always a copy: loops need writable arrays of one type

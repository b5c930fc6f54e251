# SPDX-License-Identifier: MIT
"""The chosen calls with their functions, block by block, each call once; threads read columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...records.types import Int64s
from ..parallel_blocks import each_made
from .chosen_legs_and_calls import Scope

BLOCK = 1 << 18  # calls that are read together


class FunctionCalls(NamedTuple):
    """Calls: `function` is an index of Scope.function_names, and `columns` are int64."""

    function: Int64s
    columns: tuple[Int64s, ...]

    def with_duration(self) -> tuple[Int64s, Int64s]:
        """Return function and duration (ns) of the calls whose duration is known.

        The duration must be the first column.
        """
        known = self.columns[0] >= 0
        if known.all():
            return self.function, self.columns[0]
        return self.function[known], self.columns[0][known]


def function_calls(scope: Scope, *names: str) -> Iterator[FunctionCalls]:
    """Yield the chosen calls with the columns `names`.

    Calls of functions without a name are left out.  Raises Cancelled.  A call that is stored in
    several rows is yielded once.
    """
    if scope.has_few_calls:
        mine = np.flatnonzero((scope.function >= 0) & scope.once)
        columns = tuple(scope.of_call(name)[mine] for name in names)
        yield FunctionCalls(scope.function[mine], columns)
        return
    calls, once = scope.calls, scope.once
    total = len(calls)
    firsts = range(0, total, BLOCK)
    sizes = [int(np.count_nonzero(calls[first : first + BLOCK])) for first in firsts]
    places = np.r_[0, np.cumsum(sizes)]  # of each block's first call among the chosen ones

    def read(block: int) -> FunctionCalls:
        first = block * BLOCK
        counts = once[places[block] : places[block + 1]]
        mine = np.flatnonzero(calls[first : first + BLOCK])[counts] + first
        func, *columns = (_of(scope, name, mine) for name in ("func", *names))
        source = mine if len(scope.kernels) == 1 else scope.sources_of(_of(scope, "leg", mine) - 1)
        function = scope.functions_of(func, source)
        known = function >= 0
        if not known.all():
            function, columns = function[known], [column[known] for column in columns]
        return FunctionCalls(function, tuple(columns))

    for block, made in enumerate(each_made(read, range(len(sizes)))):
        scope.progress.report("Counting", block * BLOCK, total)
        yield made


def _of(scope: Scope, name: str, rows: Int64s) -> Int64s:
    return np.array(scope.columns.near("call", name, rows), np.int64)

# SPDX-License-Identifier: MIT
"""The legs of the chosen packets, with their waits and calls.

If there are few legs, only their rows are read; otherwise whole columns are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...records.types import Int64s
from ..row_number_sets import distinct
from ..scope import Scope

DENSE = 16  # whole columns are read to take the rows of one leg of so many


class ChosenLegs:
    """The legs of chosen packets.  Packets are represented by their indices in Case.rows."""

    def __init__(self, scope: Scope, legs: Int64s, at: Int64s) -> None:
        """Describe 0-based legs: the legs of packet i are legs[at[i] : at[i + 1]]."""
        self._scope, self._columns = scope, scope.columns
        self._legs, self._rows = legs, np.repeat(np.arange(len(at) - 1), np.diff(at))
        self._are_few = len(legs) * DENSE < self._columns.length("leg")

    def row_of(self, legs: Int64s) -> Int64s:
        """Return the packet of each of `legs`; -1 if no chosen packet has the leg.

        If several packets have the leg, the last one is returned.
        """
        if not self._are_few:
            return self._row_of_leg[legs]
        mine, rows = self._sorted
        place = np.searchsorted(mine, legs, "right") - 1
        return np.where((place >= 0) & (mine[place] == legs), rows[place], -1) if len(
            mine) else np.full(len(legs), -1)  # fmt: skip

    def packets_of(self, legs: Int64s) -> tuple[Int64s, Int64s]:
        """Return each packet of each of `legs` as (place, packet), in the order of `place`.

        `place` is the index of the leg in `legs`.  Captures at several devices may have the same
        skb; then several packets have the same leg.
        """
        row = self.row_of(legs)
        place = np.flatnonzero(row >= 0)
        if not self._are_shared:
            return place, row[place]
        mine, rows = self._sorted
        first = np.searchsorted(mine, legs[place], "left")
        number = np.searchsorted(mine, legs[place], "right") - first
        after = np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number, number)
        return np.repeat(place, number), rows[np.repeat(first, number) + after]

    @cached_property
    def _are_shared(self) -> bool:
        """Return whether several packets have the same leg."""
        if not self._are_few:
            return int(np.count_nonzero(self._row_of_leg >= 0)) != len(self._legs)
        mine, _ = self._sorted
        return bool((mine[1:] == mine[:-1]).any())

    @cached_property
    def _row_of_leg(self) -> Int64s:
        found = np.full(self._columns.length("leg"), -1, np.int64)
        found[self._legs] = self._rows
        return found

    @cached_property
    def _sorted(self) -> tuple[Int64s, Int64s]:
        order = np.argsort(self._legs, kind="stable")
        return self._legs[order], self._rows[order]

    def waits(self, kinds: Sequence[int]) -> tuple[Int64s, Int64s]:
        """Return the waits of these kinds (0-based rows, rising), and their legs."""
        rows, kind = self._waits
        mine = rows[kind == kinds[0] if len(kinds) == 1 else np.isin(kind, kinds)]
        leg = self._columns.take("wait", "leg", mine).astype(np.int64) - 1
        known = self.row_of(leg) >= 0
        return mine[known], leg[known]

    @cached_property
    def _waits(self) -> tuple[Int64s, Int64s]:
        """Return the rows and kinds of all waits that chosen packets may have."""
        if not self._are_few:
            kinds = self._columns.array("wait", "kind")
            return np.arange(len(kinds)), kinds
        rows, _ = self._columns.rows_with("wait", "leg", distinct(self._legs) + 1)
        return rows, self._columns.near("wait", "kind", rows)

    def called(self, names: frozenset[str]) -> Int64s:
        """Return the calls of the functions `names` in these legs, as 0-based rows."""
        probes = {
            probe
            for kernel in self._scope.kernels.values()
            for probe, name in kernel.functions.items()
            if name in names
        }
        if not probes:
            return np.zeros(0, np.int64)
        wanted = np.array(sorted(probes), np.int64)
        if self._are_few:
            rows, legs = self._calls
            func = np.asarray(self._columns.near("call", "func", rows), np.int64)
            mine = np.flatnonzero(np.isin(func, wanted))
            rows, legs, func = rows[mine], legs[mine], func[mine]
        else:
            rows, func = self._columns.rows_with("call", "func", wanted)
            legs = self._columns.take("call", "leg", rows).astype(np.int64) - 1
        function = self._scope.functions_of(
            np.asarray(func, np.int64), self._scope.sources_of(legs)
        )
        meant = np.array([name in names for name in self._scope.function_names] + [False])
        return rows[meant[function] & (self.row_of(legs) >= 0)]

    @cached_property
    def _calls(self) -> tuple[Int64s, Int64s]:
        """Return the calls of these legs (0-based rows), and their legs."""
        rows, leg = self._columns.rows_with("call", "leg", distinct(self._legs) + 1)
        return rows, leg.astype(np.int64) - 1

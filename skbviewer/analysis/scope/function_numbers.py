# SPDX-License-Identifier: MIT
"""Convert the probe ids of several logs into one number for each function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...records.types import Int64s
from ..words.function_layers import OTHER, layer_of
from .scope_inputs import Kernel


def layers_of(names: Sequence[str], kernels: Mapping[int, Kernel]) -> list[str]:
    """Return the layer of each function.

    Whatever its name is, a function without an skb is never in a layer of a packet's path.  A
    function without an skb also begins no stage, and is no step of a path.
    """
    inner = frozenset[str]().union(*(k.names.inner_functions for k in kernels.values()))
    return [OTHER if name in inner else layer_of(name) for name in names]


class FunctionNumbers:
    """Finds the function of a probe in a log, as an index of the names of all functions."""

    def __init__(self, kernels: Mapping[int, Kernel], names: Sequence[str]) -> None:
        """Number the functions of `kernels` (by source id) by their indices in `names`."""
        place = {name: at for at, name in enumerate(names)}
        self._tables: dict[int, Int64s] = {}
        for number, kernel in kernels.items():
            table = np.full(max(kernel.functions, default=0) + 2, -1, np.int64)  # the last: no name
            for probe, name in kernel.functions.items():
                table[probe] = place[name]
            self._tables[number] = table

    def of(self, func: Int64s, source: Int64s) -> Int64s:
        """Return the function of each probe id in `func`; -1 = the function has no name.

        `source` has the source id of the log of each probe.  `source` is ignored if there is only
        one log.
        """
        if len(self._tables) == 1:
            (table,) = self._tables.values()
            return np.asarray(table[np.clip(func, -1, len(table) - 1)], np.int64)
        found = np.full(len(func), -1, np.int64)
        for number, table in self._tables.items():
            mine = np.flatnonzero(source == number)
            found[mine] = table[np.clip(func[mine], -1, len(table) - 1)]
        return found

# SPDX-License-Identifier: MIT
"""A number for the path of each packet, from a compiled loop: equal paths have equal numbers."""

from __future__ import annotations

import numpy as np

from ...records.compiled import compiled
from ...records.types import Int64s
from .leg_columns import NO_LAYER, LegColumns
from .path_rule import begin_path, is_step, mix


@compiled
def number_paths(
    at: Int64s, of: Int64s, legs: LegColumns, seen: Int64s, layers: Int64s, made: Int64s
) -> None:
    """Fill made[0] with the number of each packet's path, made[1] with that of its layers.

    `seen` and `layers` are scratch space by function and by layer, filled with -1.
    """
    mark = np.int64(0)
    for unit in range(len(at) - 1):
        whole = coarse = np.int64(0)
        for i in range(at[unit], at[unit + 1]):
            leg = of[i]
            path = begin_path(np.int64(legs.kind[leg]), np.int64(legs.dropped[leg]))
            coarse = mix(coarse, path)
            for call in range(legs.calls_at[leg], legs.calls_at[leg + 1]):
                function = legs.function[call]
                number = legs.path_step[function]
                if seen[function] == mark:
                    continue
                if not is_step(number, legs.entry[call], legs.begin[leg], legs.end[leg]):
                    continue
                seen[function] = mark
                path = mix(path, number)
                layer = np.int64(legs.layer[function])
                if layer != NO_LAYER and layers[layer] != mark:
                    layers[layer] = mark
                    coarse = mix(coarse, layer + 1)
            whole = path if i == at[unit] else mix(whole, path)
            mark += 1
        made[0, unit], made[1, unit] = whole, coarse

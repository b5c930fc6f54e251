# SPDX-License-Identifier: MIT
"""A number for the path of each packet, from a compiled loop: equal paths have equal numbers."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Int64s
from .leg_columns import NO_LAYER, LegColumns

ODD = np.int64(-7046029254386353131)  # 2^64 / golden ratio (Knuth, TAOCP 6.4)


@compiled
def number_paths(
    at: Int64s, of: Int64s, legs: LegColumns, seen: Int64s, layers: Int64s, made: Int64s
) -> None:
    """Fill made[0] with a hash of the functions of each packet's path, made[1] of its layers.

    `seen` and `layers` are scratch space by function and by layer, filled with -1.
    """
    mark = np.int64(0)
    for unit in range(len(at) - 1):
        fine = coarse = np.int64(0)
        for i in range(at[unit], at[unit + 1]):
            leg = of[i]
            sort = np.int64(legs.kind[leg]) * 2 + legs.dropped[leg] + 1
            fine, coarse = mix(fine, -sort), mix(coarse, -sort)
            for call in range(legs.calls_at[leg], legs.calls_at[leg + 1]):
                function = legs.function[call]
                layer = np.int64(legs.layer[function])
                entry = legs.entry[call]
                inside = legs.begin[leg] <= entry and entry < legs.end[leg]
                if layer == NO_LAYER or not inside or seen[function] == mark:
                    continue
                seen[function] = mark
                fine = mix(fine, np.int64(function))
                if layers[layer] != mark:
                    layers[layer] = mark
                    coarse = mix(coarse, layer)
            mark += 1
        made[0, unit], made[1, unit] = fine, coarse


@allocation_free
def mix(value: Int, more: Int) -> np.int64:
    """Return a hash of a hash and a number."""
    mixed = (np.int64(value) ^ np.int64(more + 1)) * ODD
    return np.int64(mixed ^ (mixed >> 29))

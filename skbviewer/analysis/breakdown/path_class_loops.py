# SPDX-License-Identifier: MIT
"""Number the paths of packets in compiled loops: equal paths get equal numbers."""

from __future__ import annotations

import numpy as np

from ...records.compiled import compiled
from ...records.types import Int64s
from .leg_columns import NO_LAYER, LegColumns
from .path_class_rule import begin_path, is_step, mix


@compiled
def number_paths(
    at: Int64s, of: Int64s, legs: LegColumns, seen: Int64s, layers: Int64s, made: Int64s
) -> None:
    """Write into made[0] a number for each packet's path, into made[1] a number for its layers.

    The legs of packet i are of[at[i] : at[i + 1]], indices into `legs`.  `seen` (by function) and
    `layers` (by layer) are scratch space, filled with -1.
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


@compiled
def number_values(values: Int64s, kept: Int64s, number_of: Int64s, made: Int64s) -> np.int64:
    """Number the distinct values from 0 in the order in which they first occur.

    made[i] becomes the number that stands for values[i].  `kept` and `number_of` are scratch space
    for a hash table: their length is a power of two, and `number_of` is filled with -1.  Returns
    the number of distinct values; -1 if they would fill more than half of the table.
    """
    last = len(kept) - 1
    count = np.int64(0)
    for at in range(len(values)):
        place = (values[at] ^ (values[at] >> 32)) & last
        while number_of[place] >= 0 and kept[place] != values[at]:
            place = (place + 1) & last
        if number_of[place] < 0:
            if 2 * count > last:
                return np.int64(-1)
            kept[place], number_of[place] = values[at], count
            count += 1
        made[at] = number_of[place]
    return count


@compiled
def find_members(group: Int64s, value: Int64s, wanted: Int64s, rank: Int64s, found: Int64s) -> None:
    """Set found[g] to the index of a row in group g whose value is wanted[g].

    `group` and `value` have an element for each row.  If several rows of group g have the value
    wanted[g], the first rank[g] of them are skipped.
    """
    left = rank.copy()
    for at in range(len(group)):
        one = group[at]
        if value[at] == wanted[one]:
            if left[one] == 0:
                found[one] = at
            left[one] -= 1

# SPDX-License-Identifier: MIT
"""Sort the values of each group, for many groups at once."""

from __future__ import annotations

import numpy as np

from ...records.types import Int64s

BITS = 63  # bits of a positive int64


def by_group(group: Int64s, value: Int64s, groups: int) -> list[Int64s]:
    """Return the sorted values of each of `groups` groups, which are numbered from 0.

    `group` and `value` have an element for each row.  If group and value together fit into 63 bits,
    the pairs are sorted as one number each, which takes a fifth of the time.
    """
    group, value = np.asarray(group, np.int64), np.asarray(value, np.int64)
    bits = int(value.max(initial=0)).bit_length()
    if value.min(initial=0) >= 0 and bits + groups.bit_length() < BITS:
        value = np.sort((group << bits) | value) & ((1 << bits) - 1)
    else:
        value = value[np.lexsort((value, group))]
    ends = np.cumsum(np.bincount(group, minlength=groups))
    return np.split(value, ends[:-1]) if groups else []

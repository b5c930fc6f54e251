# SPDX-License-Identifier: MIT
"""Count the values of groups in buckets, and collect the values of some buckets."""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, allocation_free, compiled
from ...records.types import Int64s

BITS = 6  # a bucket is at most 1 / (1 << BITS) as wide as its values
BUCKETS = (63 - BITS + 1) << BITS


@allocation_free
def bucket_of(value: Int) -> np.int64:
    """Return the bucket of a value of at least 0; larger values never have a lower bucket."""
    shift, left = np.int64(0), np.int64(value) >> (BITS + 1)
    for step in (32, 16, 8, 4, 2, 1):
        if left >> (step - 1) > 0:
            shift += step
            left >>= step
    return np.int64((shift << BITS) + (np.int64(value) >> shift))


@compiled
def count_values(group: Int64s, value: Int64s, counts: Int64s, total: Int64s) -> None:
    """Add 1 to counts[group, bucket] for each value, and the value to total[group]."""
    for i in range(len(value)):
        counts[group[i], bucket_of(value[i])] += 1
        total[group[i]] += value[i]


@compiled
def collect(group: Int64s, value: Int64s, slot: Int64s, at: Int64s, kept: Int64s) -> None:
    """Copy the values of the wanted buckets into `kept`, sorted by bucket.

    Wanted buckets are numbered: slot[group, bucket] is the number, or -1 if the bucket is not
    wanted.  The values of the bucket with the number s are written from index at[s] on; at[s]
    becomes the index after the last of these values.
    """
    for i in range(len(value)):
        mine = slot[group[i], bucket_of(value[i])]
        if mine >= 0:
            kept[at[mine]] = value[i]
            at[mine] += 1

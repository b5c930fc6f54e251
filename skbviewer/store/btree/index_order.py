# SPDX-License-Identifier: MIT
"""The order of an index: by its keys, then by row.

Key columns are often sorted already.  If the keys are not sorted, they are often row numbers of
another table, with about as many distinct values as there are keys; then a counting sort needs no
comparisons.
"""

from __future__ import annotations

import numpy as np

from ...records.compiled import Int, compiled
from ...records.types import Int32s, Int64s, UInt8s
from .typed_column_loops import Values, stage
from .typed_columns import MEMORY, Sources

RANGE_FACTOR = 8  # the counting sort is used if the keys' range is at most this times their number
MAX_COUNTED = (1 << 31) - 1  # greatest key and row number of the counting sort
STEP = 4096  # keys handled together


def in_order(keys: list[Values]) -> list[Values]:
    """Return the key columns in the order of an index, with the row ids as the last column.

    `keys` are the key columns in the order of rows; row ids count from 1.
    """
    count = len(keys[0])
    if len(keys) > 1:
        order = np.lexsort(keys[::-1])
        return [*(key[order] for key in keys), order + 1]
    key = keys[0]
    if bool(np.greater_equal(key[1:], key[:-1]).all()):
        return [key, np.arange(1, count + 1, dtype=np.int32 if count <= MAX_COUNTED else np.int64)]
    low, high = int(key.min()), int(key.max())
    if high - low > RANGE_FACTOR * count + STEP or max(high, ~low, count) > MAX_COUNTED:
        order = np.argsort(key, kind="stable")
        return [key[order], order + 1]
    rows, made = np.empty(count, np.int32), np.empty(count, np.int32)
    counts, columns = np.zeros(high - low + 2, np.int32), Sources(keys)
    _count(MEMORY, columns.places, count, low, counts, rows, made)
    return [made, rows]


@compiled
def _count(
    memory: UInt8s, places: Int64s, count: Int, low: Int, at: Int32s, rows: Int32s, keys: Int32s
) -> None:
    """Sort a column by counting: `rows` gets the row ids, and `keys` the sorted values.

    The class Sources explains `memory` and `places`; the column has `count` values.  `low` is the
    lowest value.  `at` is scratch space, filled with zeros: it has an element for each value from
    `low` to the highest one, and one more.
    """
    some = np.empty(STEP, np.int64)
    for begin in range(0, count, STEP):
        size = min(STEP, count - begin)
        stage(memory, places, np.int64(0), begin, size, some)
        for i in range(np.uint64(size)):
            at[np.uint64(some[i] - low + 1)] += 1
    done = np.uint64(0)
    for number in range(1, len(at)):
        for _ in range(at[number]):
            keys[done] = low + number - 1
            done += np.uint64(1)
        at[number] += at[number - 1]
    for begin in range(0, count, STEP):
        size = min(STEP, count - begin)
        stage(memory, places, np.int64(0), begin, size, some)
        for i in range(np.uint64(size)):
            bucket = np.uint64(some[i] - low)
            rows[np.uint64(at[bucket])] = begin + np.int64(i) + 1
            at[bucket] += 1

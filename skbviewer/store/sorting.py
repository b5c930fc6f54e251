# SPDX-License-Identifier: MIT
"""The order of an index: by its keys, then by row.

Keys are often in order already, or are numbers of rows of another table, of which there are few
more than keys: those are counted, which takes no comparison.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records.compiled import Int, compiled
from .sources import MEMORY, Bytes, Numbers, Sources, Values, stage

FEW = 8  # as many times as there are keys may there be numbers between the lowest and the highest
MOST = (1 << 31) - 1  # a key or a row that can be counted
STEP = 4096  # keys at a time

Small = npt.NDArray[np.int32]


def in_order(keys: list[Values]) -> list[Values]:
    """The key columns in the order of the index, and the row ids (from 1 on)."""
    count = len(keys[0])
    if len(keys) > 1:
        order = np.lexsort(keys[::-1])
        return [*(key[order] for key in keys), order + 1]
    key = keys[0]
    if bool(np.greater_equal(key[1:], key[:-1]).all()):
        return [key, np.arange(1, count + 1, dtype=np.int32 if count <= MOST else np.int64)]
    low, high = int(key.min()), int(key.max())
    if high - low > FEW * count + STEP or max(high, ~low, count) > MOST:
        order = np.argsort(key, kind="stable")
        return [key[order], order + 1]
    rows, made = np.empty(count, np.int32), np.empty(count, np.int32)
    counts, columns = np.zeros(high - low + 2, np.int32), Sources(keys)
    _count(MEMORY, columns.places, count, low, counts, rows, made)
    return [made, rows]


@compiled
def _count(
    memory: Bytes, places: Numbers, count: Int, low: Int, at: Small, rows: Small, keys: Small
) -> None:
    """Fill `rows` and `keys`; `at` is 0 for each number from `low` on, and for one more."""
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

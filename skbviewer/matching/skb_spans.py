# SPDX-License-Identifier: MIT
"""The times in which each skb belonged to each skb lifetime, to join two logs of one host.

Input: the records of a log, and their series.  Output: SPAN_DTYPE rows, sorted by (skb, begin).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..records import Records, part
from ..records.types import Int32s
from .arrays.record_column_blocks import record_blocks

SPAN_DTYPE = np.dtype([("skb", "<i8"), ("series", "<i8"), ("begin", "<i8"), ("end", "<i8")])
Spans = npt.NDArray[np.void]


def no_spans() -> Spans:
    """Return an empty array of rows with SPAN_DTYPE."""
    return np.zeros(0, SPAN_DTYPE)


def skb_spans(records: Records, of: Int32s) -> Spans:
    """Return a row for each skb of each series: its address, first and last time (ns).

    `of` is the series of each record; -1 means that it has none.
    """
    found = [np.zeros(0, SPAN_DTYPE)]
    for some in record_blocks(records):
        skb, ts = (np.asarray(part(records, name, some), np.int64) for name in ("skb", "ts"))
        rows = np.zeros(len(skb), SPAN_DTYPE)
        rows["skb"], rows["series"], rows["begin"], rows["end"] = skb, of[some], ts, ts
        found.append(_merged(rows[(of[some] >= 0) & (skb != 0)]))
    return _merged(np.concatenate(found))


def _merged(rows: Spans) -> Spans:
    """Return the rows with one row for each pair of skb and series."""
    if not len(rows):
        return rows
    rows = rows[np.lexsort((rows["series"], rows["skb"]))]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows["skb"][1:] != rows["skb"][:-1]) | (rows["series"][1:] != rows["series"][:-1])
    first = np.flatnonzero(new)
    made = rows[first].copy()
    made["begin"] = np.minimum.reduceat(rows["begin"], first)
    made["end"] = np.maximum.reduceat(rows["end"], first)
    return made[np.lexsort((made["begin"], made["skb"]))]

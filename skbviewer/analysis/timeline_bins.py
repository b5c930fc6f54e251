# SPDX-License-Identifier: MIT
"""Boxes for the pixels of a window, from rows of sorted boxes: a few searches, no pass over all.

In: per row, boxes sorted by time that do not overlap.  Out: what to draw.  A box at least a pixel
wide is drawn as itself; those that begin in the same pixel and are thinner are merged into one bin
with their number, the layer of most of them and whether packets were dropped in any.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]

LAYER = 0x1F  # bits of `look`: the layer's number
OPEN, DROP = 0x20, 0x40  # no exit recorded; a packet was dropped in it
SAMPLES = 8  # calls of a bin asked for their layer

BIN_DTYPE = np.dtype(
    [
        ("row", "<i4"),
        ("begin", "<i8"),  # ns since the timeline's t0_ns
        ("end", "<i8"),
        ("count", "<i8"),
        ("look", "u1"),
        ("mixed", "?"),  # not all asked are of the layer told
        ("item", "<i8"),  # call or packet, as row of its table; of a bin the first
        ("name", "<i4"),  # number of the function's name; of a bin the first's
    ]
)


class Boxes(NamedTuple):
    """Boxes sorted by (row, begin); times are ns since t0_ns."""

    starts: Index  # first box of each row, and how many boxes there are
    begin: Index
    end: Index
    look: npt.NDArray[np.uint8]
    item: npt.NDArray[np.int32]
    name: npt.NDArray[np.uint16]  # see Timeline.names
    drops: Index  # boxes with DROP
    opens: Index  # boxes with OPEN


def boxes(
    row: npt.NDArray[np.integer],
    rows: int,
    begin: Index,
    end: Index,
    look: npt.NDArray[np.uint8],
    item: npt.NDArray[np.integer],
    name: npt.NDArray[np.uint16] | None = None,
) -> Boxes:
    """Boxes from columns that are sorted by (row, begin)."""
    starts = np.searchsorted(row, np.arange(rows + 1)).astype(np.int64)
    drops, opens = (np.flatnonzero(look & bit) for bit in (DROP, OPEN))
    names = np.zeros(len(begin), np.uint16) if name is None else name
    return Boxes(starts, begin, end, look, item.astype(np.int32), names, drops, opens)


def bins(of: Boxes, begin: int, end: int, width: int, rows: range) -> npt.NDArray[np.void]:
    """BIN_DTYPE for `rows` in begin <= t < end (ns since t0_ns), `width` pixels wide."""
    edges = begin + (np.arange(width + 1, dtype=np.int64) * (end - begin)) // width
    found = [_row(of, row, edges) for row in rows if of.starts[row] < of.starts[row + 1]]
    return np.concatenate(found) if found else np.zeros(0, BIN_DTYPE)


def _row(of: Boxes, row: int, edges: Index) -> npt.NDArray[np.void]:
    base, stop = int(of.starts[row]), int(of.starts[row + 1])
    begin = of.begin[base:stop]
    first = int(np.searchsorted(begin, edges[0]))
    last = int(np.searchsorted(begin, edges[-1]))
    if first and of.end[base + first - 1] > edges[0]:
        first -= 1  # began left of the window and is still there
    if first == last:
        return np.zeros(0, BIN_DTYPE)
    group = base + first + _groups(begin[first:last], edges)
    return _drawn(of, row, group, base + last, int(edges[-1] - edges[0]) // (len(edges) - 1))


def _groups(begin: Index, edges: Index) -> Index:
    """Where in `begin` the boxes of each pixel start, only pixels in which boxes begin."""
    if 2 * len(begin) < len(edges):
        pixel = np.searchsorted(edges, begin, "right")
        return np.flatnonzero(np.r_[True, pixel[1:] != pixel[:-1]])
    bounds = np.searchsorted(begin, edges[1:-1])
    return np.unique(np.r_[0, bounds[bounds < len(begin)]])


def _drawn(of: Boxes, row: int, group: Index, stop: int, pixel: int) -> npt.NDArray[np.void]:
    """Each pixel's boxes as one bin, less the last if that is a pixel wide or more."""
    last = np.r_[group[1:], stop] - 1
    wide = of.end[last] - of.begin[last] > pixel
    count = last + 1 - group - wide
    some = np.flatnonzero(count)
    merged = np.zeros(len(some), BIN_DTYPE)
    merged["begin"], merged["count"] = of.begin[group[some]], count[some]
    merged["end"] = of.end[group[some] + count[some] - 1]
    merged["item"], merged["name"] = of.item[group[some]], of.name[group[some]]
    merged["look"], merged["mixed"] = _looks(of, group[some], count[some])
    alone = last[wide]
    single = np.zeros(len(alone), BIN_DTYPE)
    single["begin"], single["end"], single["count"] = of.begin[alone], of.end[alone], 1
    single["look"], single["item"], single["name"] = of.look[alone], of.item[alone], of.name[alone]
    joined = np.concatenate([merged, single])
    joined["row"] = row
    return joined[np.argsort(joined["begin"], kind="stable")]


def _looks(
    of: Boxes, first: Index, count: Index
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """The layer most frequent among SAMPLES boxes of each bin, and flags that any of them has."""
    if not len(first):
        return np.zeros(0, np.uint8), np.zeros(0, np.bool_)
    asked = first[:, None] + count[:, None] * np.arange(SAMPLES) // SAMPLES
    layer = of.look[asked] & LAYER
    votes = np.arange(len(first))[:, None] * (LAYER + 1) + layer
    tally = np.bincount(votes.ravel(), minlength=len(first) * (LAYER + 1)).reshape(-1, LAYER + 1)
    look = tally.argmax(1).astype(np.uint8)
    mixed = tally[np.arange(len(first)), look] < SAMPLES
    for bit, places in ((DROP, of.drops), (OPEN, of.opens)):
        has = np.searchsorted(places, first + count) > np.searchsorted(places, first)
        look[has] |= bit
    return look, mixed

# SPDX-License-Identifier: MIT
"""Find the boxes to draw in each pixel by searches, without going over all boxes.

Input: for each row, boxes that are sorted by time and do not overlap.  Output: the boxes to draw.
A box that is wider than a pixel is drawn as it is.  Narrower boxes that begin in the same pixel are
drawn as one bin.  A bin has the number of its boxes, their most frequent layer, and a flag that
says whether a packet was dropped in one of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...records.types import Int64s

LAYER = 0x1F  # bits of `look`: the layer's number
OPEN, DROP = 0x20, 0x40  # no exit recorded; a packet was dropped during the call
COARSE = 16  # every COARSE-th begin is also in a short array for searches; a power of two
BLOCK = 1 << 20  # boxes that are read together
SAMPLES = 8  # calls of a bin whose layers are counted

BIN_DTYPE = np.dtype(
    [
        ("row", "<i4"),
        ("begin", "<i8"),  # ns since the timeline's t0_ns
        ("end", "<i8"),
        ("count", "<i8"),
        ("look", "u1"),
        ("mixed", "?"),  # not all sampled calls have this layer
        ("item", "<i8"),  # row of the call or packet in its table; for a bin, of the first one
        ("name", "<i4"),  # number of the function's name; for a bin, of the first one
    ]
)


class Boxes(NamedTuple):
    """Boxes sorted by row and begin; times are in ns since t0_ns."""

    starts: Int64s  # index of each row's first box; then the number of boxes
    begin: Int64s
    dur: npt.NDArray[np.integer]  # see durations()
    look: npt.NDArray[np.uint8]
    item: npt.NDArray[np.int32]
    name: npt.NDArray[np.uint16]  # see Timeline.names
    drops: Int64s  # boxes with DROP
    opens: Int64s  # boxes with OPEN
    coarse: Int64s  # begin of each COARSE-th box

    @property
    def end(self) -> Int64s:
        """Return the end of each box (ns); the ends are computed anew each time."""
        return np.asarray(self.begin + self.dur, np.int64)

    def layers(self) -> list[int]:
        """Return the numbers of those layers that boxes have, rising."""
        seen = np.zeros(LAYER + 1, np.bool_)
        for first in range(0, len(self.look), BLOCK):
            seen[self.look[first : first + BLOCK] & LAYER] = True
        return np.flatnonzero(seen).tolist()


def durations(begin: Int64s, end: Int64s) -> npt.NDArray[np.integer]:
    """Return `end` - `begin` of each box, in 32 bits if they all fit, which saves memory."""
    dur = end - begin
    return dur.astype(np.uint32) if int(dur.max(initial=0)) < 1 << 32 else dur


def boxes(
    starts: Int64s,
    begin: Int64s,
    dur: npt.NDArray[np.integer],
    look: npt.NDArray[np.uint8],
    item: npt.NDArray[np.integer],
    name: npt.NDArray[np.uint16] | None = None,
) -> Boxes:
    """Return Boxes made of columns that are sorted by row and begin.

    The columns are explained at the class Boxes.  Without `name`, no box has a function's name.
    """
    drops, opens = (np.flatnonzero(look & bit) for bit in (DROP, OPEN))
    names = np.zeros(len(begin), np.uint16) if name is None else name
    items, coarse = item.astype(np.int32, copy=False), begin[::COARSE].copy()
    return Boxes(starts, begin, dur, look, items, names, drops, opens, coarse)


def bins(of: Boxes, begin: int, end: int, width: int, rows: range) -> npt.NDArray[np.void]:
    """Return what to draw of the boxes in `rows` from `begin` to `end`, as BIN_DTYPE.

    The picture shows begin <= t < end (ns since t0_ns) on `width` pixels.
    """
    edges = begin + (np.arange(width + 1, dtype=np.int64) * (end - begin)) // width
    parts = [(row, _row(of, row, edges)) for row in rows if of.starts[row] < of.starts[row + 1]]
    drawn = [(row, part) for row, part in parts if part is not None]
    found = np.zeros(sum(len(part.begin) for _, part in drawn), BIN_DTYPE)
    if drawn:
        found["row"] = np.repeat([row for row, _ in drawn], [len(part.begin) for _, part in drawn])
        for at, name in enumerate(("begin", "end", "count", "look", "mixed", "item", "name")):
            found[name] = np.concatenate([part[at] for _, part in drawn])
    return found


class _Drawn(NamedTuple):
    """What to draw in one row: the columns of BIN_DTYPE except the row."""

    begin: Int64s
    end: Int64s
    number: Int64s
    look: npt.NDArray[np.uint8]
    mixed: npt.NDArray[np.bool_]
    item: npt.NDArray[np.int32]
    name: npt.NDArray[np.uint16]


def _row(of: Boxes, row: int, edges: Int64s) -> _Drawn | None:
    base, stop = int(of.starts[row]), int(of.starts[row + 1])
    begin = of.begin[base:stop]
    first = int(np.searchsorted(begin, edges[0]))
    last = int(np.searchsorted(begin, edges[-1]))
    if first and int(begin[first - 1]) + int(of.dur[base + first - 1]) > edges[0]:
        first -= 1  # begins left of the window and reaches into it
    if first == last:
        return None
    if 2 * (last - first) < len(edges):
        pixel = np.searchsorted(edges, begin[first:last], "right")
        group = np.flatnonzero(np.r_[True, pixel[1:] != pixel[:-1]]) + base + first
    else:
        group = _groups(_positions(of, base, stop, edges[:-1]), base + first, base + last)
    return _drawn(of, group, base + last, int(edges[-1] - edges[0]) // (len(edges) - 1))


def _positions(of: Boxes, base: int, stop: int, edges: Int64s) -> Int64s:
    """Return for each of `edges` the first box in a row that begins at or after the edge.

    The boxes of the row are those from `base` to `stop` - 1.

    The result is the same as that of np.searchsorted(), but takes a third of the time.  Each step
    of the search is done for all edges at once, so that the edges wait for the memory together.
    """
    begin, end = -(-base // COARSE), -(-stop // COARSE)
    low = (np.searchsorted(of.coarse[begin:end], edges) + begin - 1) * COARSE + 1
    low = np.maximum(low, base)
    size = COARSE
    while size > 1:
        size //= 2
        at = np.minimum(low + (size - 1), stop - 1)
        low += size * (of.begin[at] < edges)
    return np.minimum(low, stop)


def _groups(bounds: Int64s, first: int, stop: int) -> Int64s:
    """Return the index of the first box in each pixel; pixels without boxes are left out."""
    bounds = np.maximum(bounds, first)
    bounds[0] = first
    new = np.r_[True, bounds[1:] != bounds[:-1]] & (bounds < stop)
    return np.asarray(bounds[new], np.int64)


def _drawn(of: Boxes, group: Int64s, stop: int, pixel: int) -> _Drawn:
    """Return a bin for each pixel's boxes; a wide box that begins in it has its own bin."""
    last = np.r_[group[1:], stop] - 1
    wide = of.dur[last] > pixel
    count = last + 1 - group - wide
    # One column for the bin and one for the wide box after it; either may be missing.
    there = np.stack([count > 0, wide], 1).ravel()
    first = np.stack([group, last], 1).ravel()[there]
    number = np.stack([count, wide], 1).ravel()[there]
    look, mixed = _looks(of, first, number)
    final = first + number - 1
    return _Drawn(
        of.begin[first],
        of.begin[final] + of.dur[final],
        number,
        look,
        mixed,
        of.item[first],
        of.name[first],
    )


def _looks(
    of: Boxes, first: Int64s, count: Int64s
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """Return the `look` of each bin, and whether the sampled boxes have different layers.

    Only SAMPLES boxes of each bin are examined.  The look of a bin has the most frequent layer of
    these samples, and all flags that any box of the bin has.
    """
    look, mixed = of.look[first], np.zeros(len(first), np.bool_)
    many = np.flatnonzero(count > 1)
    if not len(many):
        return look, mixed
    first, count = first[many], count[many]
    asked = first[:, None] + count[:, None] * np.arange(SAMPLES) // SAMPLES
    votes = np.arange(len(many))[:, None] * (LAYER + 1) + (of.look[asked] & LAYER)
    tally = np.bincount(votes.ravel(), minlength=len(many) * (LAYER + 1)).reshape(-1, LAYER + 1)
    chosen = tally.argmax(1).astype(np.uint8)
    mixed[many] = tally[np.arange(len(many)), chosen] < SAMPLES
    for bit, places in ((DROP, of.drops), (OPEN, of.opens)):
        low, high = np.searchsorted(places, (first[0], first[-1] + count[-1]))
        if low < high:
            near = places[low:high]
            has = np.searchsorted(near, first + count) > np.searchsorted(near, first)
            chosen[has] |= bit
    look[many] = chosen
    return look, mixed

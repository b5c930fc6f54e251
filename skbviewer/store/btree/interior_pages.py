# SPDX-License-Identifier: MIT
"""Interior pages of SQLite's b-trees, above the leaves (sqlite.org/fileformat2.html, 1.6)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...records.types import Int64s
from .row_cell_loops import INTERIOR_HEADER, PAGE

TABLE_INTERIOR, INDEX_INTERIOR = 0x05, 0x02

Pages = npt.NDArray[np.uint8]  # (n, PAGE)


def varint(value: int) -> bytes:
    """Return SQLite's variable-length integer of `value`, for 0 <= value < 2**56."""
    if value < 0x80:
        return bytes((value,))
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(value & 0x7F | 0x80)
    return bytes(reversed(groups))


def varints(values: Int64s) -> list[npt.NDArray[np.uint8]]:
    """Return the varints of rising numbers: an array (n, bytes) for each length of varints."""
    made = []
    steps = np.searchsorted(values, [1 << 7 * size for size in range(1, 9)])
    for size, (begin, end) in enumerate(pairwise([0, *steps.tolist()]), start=1):
        if end > begin:
            shifts = 7 * np.arange(size - 1, -1, -1)
            groups = (values[begin:end, None] >> shifts & 0x7F).astype(np.uint8)
            groups[:, :-1] |= 0x80
            made.append(groups)
    return made


def interior(kind: int, children: Int64s, cells: list[npt.NDArray[np.uint8]]) -> Pages:
    """Return an interior page of the b-tree, as an array (1, PAGE).

    `kind` is the type of the page, its first byte.  `children` are page numbers.  `cells` are the
    cells between the children, without the page number of the child: arrays (n, bytes) of uint8.
    """
    page = np.zeros((1, PAGE), np.uint8)
    numbers = children.astype(">u4").view(np.uint8).reshape(-1, 4)
    parts, sizes, count = [], [], 0
    for group in cells:
        here = numbers[count : count + len(group)]
        parts.append(np.concatenate([here, group], axis=1).reshape(-1))
        sizes.append(np.full(len(group), 4 + group.shape[1]))
        count += len(group)
    size = np.concatenate(sizes)
    start = PAGE - int(size.sum())
    head = bytes([kind, 0, 0]) + count.to_bytes(2, "big") + start.to_bytes(2, "big") + b"\0"
    page[0, :INTERIOR_HEADER] = np.frombuffer(head + numbers[-1].tobytes(), np.uint8)
    pointers = (start + np.cumsum(size) - size).astype(">u2").view(np.uint8)
    page[0, INTERIOR_HEADER : INTERIOR_HEADER + len(pointers)] = pointers
    page[0, start:] = np.concatenate(parts)
    return page

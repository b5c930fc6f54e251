# SPDX-License-Identifier: MIT
"""Parts that are grouped by number are the same parts."""

from __future__ import annotations

import numpy as np

from skbviewer.analysis.breakdown.time_part_groups import grouped
from skbviewer.analysis.breakdown.time_parts import Parts

PARTS, PACKETS = 6, 9


def _parts(seed: int, size: int) -> Parts:
    rng = np.random.default_rng(seed)
    place = rng.integers(0, PARTS, size).astype(np.int32)
    return Parts(rng.integers(0, PACKETS, size).astype(np.int32), place, rng.integers(1, 99, size))


def test_all_parts_of_all_blocks_are_there() -> None:
    blocks = [_parts(1, 40), _parts(2, 0), _parts(3, 25)]
    rows = np.arange(PACKETS, dtype=np.int32)[::-1].copy()
    found = grouped(list(blocks), PARTS, rows)
    for place in range(PARTS):
        should = sorted(
            (PACKETS - 1 - unit, ns)
            for parts in blocks
            for unit, at, ns in zip(*(column.tolist() for column in parts), strict=True)
            if at == place
        )
        row, ns = found.of(place)
        assert sorted(zip(row.tolist(), ns.tolist(), strict=True)) == should


def test_no_parts() -> None:
    assert grouped([], PARTS, np.zeros(0, np.int32)).at.tolist() == [0] * (PARTS + 1)

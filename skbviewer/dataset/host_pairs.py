# SPDX-License-Identifier: MIT
"""`dataset hosts`: the pairs of recordings that share addresses, their packets and their clocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..matching import EXACT, FAR
from ..records import Progress
from ..records.types import Int64s
from ..session.query_thread import Answer, Cell
from .same_packets_across_sessions import Across, across_sessions

COLUMNS = (
    "session_a", "host_a", "session_b", "host_b", "addresses", "exact", "ambiguous", "at_ns",
    "least_ns", "most_ns",
)  # fmt: skip


def host_pairs(folder: Path, progress: Progress) -> Answer:
    """Return a row for each pair of recordings that share addresses.

    `addresses` counts the pairs of addresses that exchange packets in both recordings; `exact` and
    `ambiguous` count pairs of packets. At the time at_ns of clock a, clock b minus clock a is from
    least_ns to most_ns; NULL if nothing bounds the difference. Raises BadInput and Cancelled.
    """
    found = across_sessions(folder, progress)
    return Answer(COLUMNS, [_row(found, *each) for each in sorted(found.shared)])


def _row(found: Across, one: int, other: int, addresses: int) -> tuple[Cell, ...]:
    pairs, clock = found.pairs, found.found.clock
    between = ((clock[pairs.a] == one) & (clock[pairs.b] == other)) | (
        (clock[pairs.a] == other) & (clock[pairs.b] == one)
    )
    exact = between & (pairs.verdict == EXACT)
    ends = *found.recordings[one], *found.recordings[other]
    counts = addresses, int(exact.sum()), int((between & ~exact).sum())
    return *ends, *counts, *_clocks(found, np.flatnonzero(exact), one)


def _clocks(found: Across, exact: Int64s, one: int) -> tuple[int | None, int | None, int | None]:
    """Return the time of the median pair, and the bounds of the clocks' difference at that time."""
    if not len(exact):
        return None, None, None
    pairs = found.pairs
    of_a = np.where(found.found.clock[pairs.a[exact]] == one, pairs.a[exact], pairs.b[exact])
    of_b = np.where(found.found.clock[pairs.a[exact]] == one, pairs.b[exact], pairs.a[exact])
    middle = int(np.argsort(found.found.low_ns[of_a])[len(of_a) // 2])
    row = int(of_a[middle])
    least, most = pairs.clocks.difference(row, int(of_b[middle]))
    at = int(found.found.low_ns[row])
    return at, least if least > -FAR else None, most if most < FAR else None

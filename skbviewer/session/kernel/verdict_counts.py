# SPDX-License-Identifier: MIT
"""Count the packets and skb lifetimes by verdict and reason."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...analysis import VERDICTS, reason
from ...analysis.words.verdict_reasons import series_reason
from ...store import Columns


class Reason(NamedTuple):
    """The number of packets that have a verdict for a reason (`why`).

    For the verdict "kernel-only", the number is that of skb lifetimes.
    """

    verdict: str
    why: str
    number: int


def reasons(columns: Columns, has_kbl: bool) -> list[Reason]:
    """Return the number of packets and of rows K<n> for each verdict and reason.

    Verdicts are in their usual order; the most frequent reason of a verdict comes first.  `has_kbl`
    is True if the session has a kernel log.
    """
    found: dict[tuple[str, str], int] = {}
    verdict, rung = columns.array("packet", "verdict"), columns.array("packet", "rung")
    for (kind, step), number in _counted(verdict, rung):
        key = (VERDICTS[kind], reason(kind, step, has_kbl))
        found[key] = found.get(key, 0) + number
    lives = columns.array("series", "kernel_only") > 0
    verdict, rung = (columns.array("series", name)[lives] for name in ("verdict", "rung"))
    for (kind, step), number in _counted(verdict, rung):
        key = ("kernel-only", series_reason(kind, step))
        found[key] = found.get(key, 0) + number
    order = [*VERDICTS, "kernel-only"]
    rows = [Reason(*key, number) for key, number in found.items()]
    return sorted(rows, key=lambda row: (order.index(row.verdict), -row.number))


def _counted(*columns: np.ndarray) -> list[tuple[tuple[int, int], int]]:
    """Return each distinct pair of values in two columns, with its number of occurrences.

    All values must be small; they may be negative.
    """
    verdict, rung = (column.astype(np.int32) for column in columns)
    pairs, counts = np.unique(verdict << 16 | rung + (1 << 15), return_counts=True)
    return [
        ((int(pair) >> 16, (int(pair) & 0xFFFF) - (1 << 15)), int(count))
        for pair, count in zip(pairs, counts, strict=True)
    ]

# SPDX-License-Identifier: MIT
"""Interrupts and softirqs by kind: `skbviewer stats interrupts`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....records.kbl_layout import KblEvent
from ...scope import Scope
from ...words.event_text import SOFTIRQS
from ..duration_percentiles import spreads
from .begin_end_events import pairs_of

KINDS = (
    ("interrupt", KblEvent.IRQ_ENTRY, KblEvent.IRQ_EXIT),
    ("softirq", KblEvent.SOFTIRQ_ENTRY, KblEvent.SOFTIRQ_EXIT),
)


class InterruptRow(NamedTuple):
    """One interrupt or softirq on one CPU.

    Times (ns) are from the start of an interrupt to its end.
    """

    kind: str
    name: str  # the number of an interrupt, the name of a softirq
    host: int  # source id of the KBL
    cpu: int
    number: int
    total_ns: int
    mean_ns: int
    p50_ns: int
    p95_ns: int
    p99_ns: int
    max_ns: int


def interrupt_rows(scope: Scope) -> list[InterruptRow]:
    """Return the interrupts and softirqs in the range of time, the longest total first.

    Raises Cancelled.
    """
    rows = []
    for kind, begins, ends in KINDS:
        pairs = pairs_of(scope, int(begins), int(ends), "cpu")
        keys = np.stack([pairs.source, pairs.cpu, pairs.data], axis=1)
        used, group = np.unique(keys, axis=0, return_inverse=True)
        found = spreads(group.reshape(-1), pairs.ns, len(used))
        for (host, cpu, number), spread in zip(used.tolist(), found, strict=True):
            rows.append(InterruptRow(kind, _name(kind, number), host, cpu, *spread))
    return sorted(rows, key=lambda row: (-row.total_ns, row.kind, row.name, row.cpu))


def _name(kind: str, number: int) -> str:
    is_known = kind == "softirq" and 0 <= number < len(SOFTIRQS)
    return SOFTIRQS[number] if is_known else str(number)

# SPDX-License-Identifier: MIT
"""Count packets over session time: packets in each kernel, and in each kind of wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...analysis.fields.field_source_tables import LEG, Array
from ...records.types import Int64s
from ..chosen_rows import session_times
from ..formats import Exportable
from .chosen_legs import ChosenLegs


class Counter(NamedTuple):
    """How many packets are in a state: `value` packets from session time `at` (ns) on."""

    source: int
    title: str
    at: Int64s
    value: Int64s


def counter(source: int, title: str, begin: Int64s, end: Int64s) -> Counter:
    """Return a counter that says for each time how many intervals contain this time.

    Interval i begins at begin[i] and ends before end[i] (session time, ns).
    """
    times = np.concatenate([begin, end])
    step = np.repeat([1, -1], [len(begin), len(end)])
    at, place = np.unique(times, return_inverse=True)
    return Counter(source, title, at, np.cumsum(np.bincount(place, step)).astype(np.int64))


def counters_of(
    recording: Exportable, legs: ChosenLegs, waits: Sequence[tuple[int, str]]
) -> list[Counter]:
    """Return counters of the packets in each kernel and in each of `waits`: (kind, title)."""
    data, made = recording.export.field_data(), []
    chosen = np.flatnonzero(legs.chosen)

    def times(source: Array, table: str, rows: Int64s) -> tuple[Int64s, Int64s]:
        begin, end = (data.columns.take(table, n, rows) for n in ("begin_ns", "end_ns"))
        return session_times(recording, source, begin), session_times(recording, source, end)

    leg, kind = (data.columns.array("wait", name).astype(np.int64) for name in ("leg", "kind"))
    of_wait = legs.source[leg - 1]
    mine = legs.chosen[leg - 1]
    for source in data.logs():
        rows = chosen[legs.source[chosen] == source]
        if len(rows):
            whole = times(legs.source[rows], LEG, rows)
            made.append(counter(source, "packets in the kernel", *whole))
        for number, title in waits:
            rows = np.flatnonzero((kind == number) & mine & (of_wait == source))
            if len(rows):
                made.append(counter(source, title, *times(of_wait[rows], "wait", rows)))
    return made

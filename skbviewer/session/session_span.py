# SPDX-License-Identifier: MIT
"""The first and the last session time of a session's packets and legs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..analysis.timeline.packet_session_times import Clock, packet_times
from ..records import UNTIMED, SourceRow
from ..store import Columns


def span_of(columns: Columns, sources: Sequence[SourceRow], clock: Clock) -> tuple[int, int]:
    """Return first and last session time of packets and legs, ns; (0, 0) if there are none."""
    found: list[int] = []
    for source in sources:
        if source.kind.is_log:
            mine = np.asarray(columns.array("leg", "source")) == source.id
            edges = [columns.array("leg", name)[mine] for name in ("begin_ns", "end_ns")]
            ends = np.array([edges[0].min(), edges[1].max()] if mine.any() else [], np.int64)
            found += clock.to_session(source.id, ends).tolist()
        else:
            ts = np.asarray(columns.array("packet", "ts"), np.int64)
            mine = (np.asarray(columns.array("packet", "source")) == source.id) & (ts != UNTIMED)
            rows = np.flatnonzero(mine)
            if len(rows):
                times = packet_times(columns, clock, source.id, rows, ts[rows])
                found += [int(times.min()), int(times.max())]
    return (min(found), max(found)) if found else (0, 0)

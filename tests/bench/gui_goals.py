# SPDX-License-Identifier: MIT
"""What the window's benchmark measures, and the limits."""

from __future__ import annotations

from typing import NamedTuple

from skbviewer.analysis.stats import STATISTICS

MS = 1e-3
GRAPHS = ("I/O graph", "latency graphs", "path graph", "flame graph", "round trips")
DIAGNOSIS = "diagnosis"
EVERYTHING, SCREENFUL = "everything", "a screenful"
SECONDS = {EVERYTHING: 1.5, SCREENFUL: 0.3}
COMPARISON, COUNT, CANCEL = "comparison with itself", "count(*) of all calls", "cancel a query"


class Goal(NamedTuple):
    """What was measured, its limit in seconds (MiB for memory), and how it is printed."""

    name: str
    limit: float
    unit: str = "ms"


def of(picture: str, part: str) -> str:
    """Return the name of a picture or table of a part of the recording."""
    return f"{picture} of {part}"


def table(statistic: str) -> str:
    """Return the name of a table of STATISTICS."""
    return f"table {statistic}"


PICTURES = (*GRAPHS, DIAGNOSIS, *map(table, STATISTICS))
GOALS = (
    Goal("launch to first rows", 1.5),
    Goal("click to path", 50 * MS),
    Goal("scroll frame", 16 * MS),
    Goal("timeline frame", 33 * MS),
    Goal("filter to list", 0.5),
    *(Goal(of(name, part), limit) for part, limit in SECONDS.items() for name in PICTURES),
    Goal(COUNT, 1.0),
    Goal(CANCEL, 0.2),
    Goal(COMPARISON, 10.0),
    Goal("small session to first rows", 1.0),
    Goal("lanes of all calls", 0.0),
    Goal("idle work", 0.0),  # streams, and what statistics read
    Goal("memory after opening", 0.0, "MiB"),
    Goal("memory at the end", 1536.0, "MiB"),
    Goal("memory at its peak", 1536.0, "MiB"),
)

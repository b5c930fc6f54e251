# SPDX-License-Identifier: MIT
"""All documented tables, in the order of docs/schema.md.

These declarations are the source of SQL views, Parquet files, JSON lines, the Python API,
`skbviewer query` and docs/schema.md.
"""

from __future__ import annotations

from .column_expressions import View
from .kernel_views import (
    CALLS,
    DEVICES,
    DROPS,
    EVENTS,
    FUNCTIONS,
    LEGS,
    LIFETIMES,
    PROCESSES,
    WAITS,
)
from .packet_views import CLOCKS, MATCHES, PACKETS, SOURCES

VIEWS: dict[str, View] = {
    view.name: view
    for view in (
        SOURCES, PACKETS, MATCHES, LIFETIMES, LEGS, CALLS, WAITS, EVENTS, DROPS,
        FUNCTIONS, PROCESSES, DEVICES, CLOCKS,
    )
}  # fmt: skip

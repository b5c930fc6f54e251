# SPDX-License-Identifier: MIT
"""All tables of `dataset stats`, by their names on the command line, as in `skbviewer stats`."""

from __future__ import annotations

from .latency_sql import LATENCY, LAYERS
from .program_and_callgraph_sql import CALLGRAPH, PROGRAMS
from .statistics_sql import CONVERSATIONS, DROPS, ENDPOINTS, FUNCTIONS, PROCESSES

TABLES = {
    "callgraph": CALLGRAPH,
    "conversations": CONVERSATIONS,
    "drops": DROPS,
    "endpoints": ENDPOINTS,
    "functions": FUNCTIONS,
    "latency": LATENCY,
    "layers": LAYERS,
    "processes": PROCESSES,
    "programs": PROGRAMS,
}

# SPDX-License-Identifier: MIT
"""The parts of docs/remade.md, made of recordings that are kept, and of other documents."""

from __future__ import annotations

from collections.abc import Callable

from .call_graph import call_graph
from .function_entries import function_entries
from .handshake import handshake
from .probe_costs import our_costs, their_costs
from .scan_tables import scan_counts, scan_functions
from .stats_tables import drops, layers, paths, programs, round_trips
from .throughput import throughput

PARTS: dict[str, Callable[[], str]] = {
    "scan-counts": scan_counts,
    "scan-functions": scan_functions,
    "handshake": handshake,
    "call-graph": call_graph,
    "function-entries": function_entries,
    "throughput": throughput,
    "paths": paths,
    "layers": layers,
    "their-probe-costs": their_costs,
    "our-probe-costs": our_costs,
    "round-trips": round_trips,
    "drops": drops,
    "programs": programs,
}

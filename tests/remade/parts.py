# SPDX-License-Identifier: MIT
"""The parts of docs/remade.md, made of recordings that are kept, and of other documents."""

from __future__ import annotations

from collections.abc import Callable

from .call_graph import call_graph
from .every_call import every_call
from .executed import transitions
from .function_entries import function_entries
from .handshake import handshake
from .kernel_sizes import kernel_sizes
from .late_clock import late_clock, late_clock_shifts
from .layer_events import idle_time, layer_events, probe_costs_in_events
from .machine_tables import interrupts, system_calls
from .probe_costs import our_costs, their_costs
from .scan_tables import scan_counts, scan_functions
from .stats_tables import drops, layers, paths, programs, round_trips
from .throughput import throughput
from .touched_memory import exceptions, page_references
from .transcripts import control_file, listing
from .user_round_trips import user_round_trips

PARTS: dict[str, Callable[[], str]] = {
    "scan-counts": scan_counts,
    "scan-functions": scan_functions,
    "handshake": handshake,
    "late-clock": late_clock,
    "late-clock-shifts": late_clock_shifts,
    "call-graph": call_graph,
    "function-entries": function_entries,
    "throughput": throughput,
    "paths": paths,
    "layers": layers,
    "layer-events": layer_events,
    "probe-events": probe_costs_in_events,
    "idle-time": idle_time,
    "their-probe-costs": their_costs,
    "our-probe-costs": our_costs,
    "kernel-sizes": kernel_sizes,
    "round-trips": round_trips,
    "user-round-trips": user_round_trips,
    "drops": drops,
    "control-file": control_file,
    "transitions": transitions,
    "page-references": page_references,
    "exceptions": exceptions,
    "interrupts": interrupts,
    "system-calls": system_calls,
    "every-call": every_call,
    "programs": programs,
    "listing": listing,
}

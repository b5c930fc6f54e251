# SPDX-License-Identifier: MIT
"""Matching: decide which captured packet is which skb lifetime in the kernel.

Records yield the lifetimes, header values yield the candidates, and the clock helps to choose among
them.  The result is a verdict for each packet.
"""

from .arrays.array_blocks import blocks
from .arrays.record_column_blocks import Rows, record_blocks, rows_where, whole
from .arrays.value_numbering import IntIndex, longer
from .clock.clock_fit import ClockFit, Segment
from .clock.session_time import EVERY, Piece, Timebase
from .hosts.clock_bound_loops import FAR
from .hosts.packet_sightings import Counts, Recordings, Sightings
from .hosts.packets_across_hosts import LIFE_NS, AcrossHosts, HostReason, across_hosts
from .identity.identity_candidates import has_larger_header
from .kernel_functions import READER, RECEIVE_START, TRANSMIT
from .legs.calls_without_skb import InnerCalls
from .legs.leg_cutting import LEG_DTYPE, LegTable
from .legs.leg_cutting import build as build_legs
from .legs.leg_cutting_loops import FORWARD, RX, TX
from .legs.socket_calls import Joined
from .legs.socket_calls import join as join_sockets
from .lifetimes.call_nesting import Nesting
from .lifetimes.merged_lifetimes import Merges, merges
from .lifetimes.skb_lifetimes import SeriesTable
from .lifetimes.skb_lifetimes import build as build_series
from .lifetimes_in_two_logs import (
    SameHost,
    joined_matches,
    own_matches,
    same_host,
    uncaptured_matches,
    with_joined,
)
from .match_rule_numbers import (
    AMBIGUOUS,
    BY_KEY,
    BY_POINTS,
    BY_SEGMENT,
    BY_TIME,
    CONTESTED,
    EXACT,
    KERNEL_ONLY,
    LATE,
    NAMELESS,
    RULES,
    SAMPLED_OUT,
    UNNUMBERED,
    UNSURE,
    WIRE_ONLY,
    LifetimeRung,
    Rung,
)
from .match_types import CAPTURED_DTYPE, MATCH_DTYPE, Fitted, KernelSide, Matches
from .matcher import build_kernel_side, interfaces, match
from .one_way_delay import OneWay, Trips, all_trips, clock_bounds, trips, without_early_arrivals
from .record_kinds import is_among
from .sampling import Sample, is_left_out, sample_of
from .session_clock import Apart, Host, Joint
from .session_clock import build as build_timebase
from .skb_spans import Spans, no_spans, skb_spans

__all__ = [
    "AMBIGUOUS",
    "BY_KEY",
    "BY_POINTS",
    "BY_SEGMENT",
    "BY_TIME",
    "CAPTURED_DTYPE",
    "CONTESTED",
    "EVERY",
    "EXACT",
    "FAR",
    "FORWARD",
    "KERNEL_ONLY",
    "LATE",
    "LEG_DTYPE",
    "LIFE_NS",
    "MATCH_DTYPE",
    "NAMELESS",
    "READER",
    "RECEIVE_START",
    "RULES",
    "RX",
    "SAMPLED_OUT",
    "TRANSMIT",
    "TX",
    "UNNUMBERED",
    "UNSURE",
    "WIRE_ONLY",
    "AcrossHosts",
    "Apart",
    "ClockFit",
    "Counts",
    "Fitted",
    "Host",
    "HostReason",
    "InnerCalls",
    "IntIndex",
    "Joined",
    "Joint",
    "KernelSide",
    "LegTable",
    "LifetimeRung",
    "Matches",
    "Merges",
    "Nesting",
    "OneWay",
    "Piece",
    "Recordings",
    "Rows",
    "Rung",
    "SameHost",
    "Sample",
    "Segment",
    "SeriesTable",
    "Sightings",
    "Spans",
    "Timebase",
    "Trips",
    "across_hosts",
    "all_trips",
    "blocks",
    "build_kernel_side",
    "build_legs",
    "build_series",
    "build_timebase",
    "clock_bounds",
    "has_larger_header",
    "interfaces",
    "is_among",
    "is_left_out",
    "join_sockets",
    "joined_matches",
    "longer",
    "match",
    "merges",
    "no_spans",
    "own_matches",
    "record_blocks",
    "rows_where",
    "same_host",
    "sample_of",
    "skb_spans",
    "trips",
    "uncaptured_matches",
    "whole",
    "with_joined",
    "without_early_arrivals",
]

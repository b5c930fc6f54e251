# SPDX-License-Identifier: MIT
"""Series, identity and clock: which wire packet is which packet life in the kernel."""

from .clock import ClockFit, Segment
from .identity import has_larger_header
from .joints import Host, Joint
from .joints import build as build_timebase
from .kinds import chosen
from .legs import FORWARD, LEG_DTYPE, RX, TX, LegTable
from .legs import build as build_legs
from .matcher import (
    CAPTURED_DTYPE,
    MATCH_DTYPE,
    Fitted,
    KernelSide,
    Matches,
    build_kernel_side,
    interfaces,
    match,
)
from .merges import Merges, merges
from .nesting import Nesting
from .numbering import IntIndex, longer
from .oneway import OneWay, Trips, bound, joined, trips, without_early_arrivals
from .ordering import blocks
from .phases import READER, RECEIVE_START, TRANSMIT
from .record_rows import Rows, found, passing, whole
from .rules import (
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
    UNNUMBERED,
    UNSURE,
    WIRE_ONLY,
    LifetimeRung,
    Rung,
)
from .series import SeriesTable
from .series import build as build_series
from .sockets import Joined
from .sockets import join as join_sockets
from .timebase import EVERY, Piece, Timebase

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
    "FORWARD",
    "KERNEL_ONLY",
    "LATE",
    "LEG_DTYPE",
    "MATCH_DTYPE",
    "NAMELESS",
    "READER",
    "RECEIVE_START",
    "RULES",
    "RX",
    "TRANSMIT",
    "TX",
    "UNNUMBERED",
    "UNSURE",
    "WIRE_ONLY",
    "ClockFit",
    "Fitted",
    "Host",
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
    "Rows",
    "Rung",
    "Segment",
    "SeriesTable",
    "Timebase",
    "Trips",
    "blocks",
    "bound",
    "build_kernel_side",
    "build_legs",
    "build_series",
    "build_timebase",
    "chosen",
    "found",
    "has_larger_header",
    "interfaces",
    "join_sockets",
    "joined",
    "longer",
    "match",
    "merges",
    "passing",
    "trips",
    "whole",
    "without_early_arrivals",
]

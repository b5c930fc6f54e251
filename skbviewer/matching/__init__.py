# SPDX-License-Identifier: MIT
"""Series, identity and clock: which wire packet is which packet life in the kernel."""

from .clock import ClockFit
from .legs import FORWARD, LEG_DTYPE, RX, TX, LegTable
from .legs import build as build_legs
from .matcher import (
    AMBIGUOUS,
    BY_KEY,
    BY_POINTS,
    BY_TIME,
    CONTESTED,
    EXACT,
    MATCH_DTYPE,
    Matches,
    match,
)
from .nesting import Nesting
from .ordering import by_number, dense, fits
from .pairing import execution, pair
from .phases import READER, TRANSMIT
from .series import SeriesTable
from .series import build as build_series
from .sockets import Joined
from .sockets import join as join_sockets
from .tellers import tellers

__all__ = [
    "AMBIGUOUS",
    "BY_KEY",
    "BY_POINTS",
    "BY_TIME",
    "CONTESTED",
    "EXACT",
    "FORWARD",
    "LEG_DTYPE",
    "MATCH_DTYPE",
    "READER",
    "RX",
    "TRANSMIT",
    "TX",
    "ClockFit",
    "Joined",
    "LegTable",
    "Matches",
    "Nesting",
    "SeriesTable",
    "build_legs",
    "build_series",
    "by_number",
    "dense",
    "execution",
    "fits",
    "join_sockets",
    "match",
    "pair",
    "tellers",
]

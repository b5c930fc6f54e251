# SPDX-License-Identifier: MIT
"""The detail tree of a packet, made from its captured bytes."""

from .application import PARSERS, tell
from .control import IP_PROTOCOLS, tell_control, tell_llc
from .dissect import Payload, carried_of, dissect, payload_of, tcp_options_of
from .node import Node
from .tcp_options import options_text
from .told import Told

__all__ = [
    "IP_PROTOCOLS",
    "PARSERS",
    "Node",
    "Payload",
    "Told",
    "carried_of",
    "dissect",
    "options_text",
    "payload_of",
    "tcp_options_of",
    "tell",
    "tell_control",
    "tell_llc",
]

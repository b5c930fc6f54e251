# SPDX-License-Identifier: MIT
"""The detail tree of a packet, made from its captured bytes."""

from .application import PARSERS, payload_summary
from .control import IP_PROTOCOLS, control_summary, llc_summary
from .dissect import Payload, carried_of, dissect, payload_of, tcp_options_of
from .node import Node
from .tcp_options import options_text
from .told import PayloadSummary

__all__ = [
    "IP_PROTOCOLS",
    "PARSERS",
    "Node",
    "Payload",
    "PayloadSummary",
    "carried_of",
    "control_summary",
    "dissect",
    "llc_summary",
    "options_text",
    "payload_of",
    "payload_summary",
    "tcp_options_of",
]

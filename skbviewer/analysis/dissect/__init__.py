# SPDX-License-Identifier: MIT
"""The detail tree of a packet, made from its captured bytes."""

from .decoded_payload import PayloadSummary
from .detail_tree import Payload, carried_of, dissect, payload_of, tcp_options_of
from .detail_tree_lines import Node
from .payload_parsers import PARSERS, payload_summary
from .routing_protocols import IP_PROTOCOLS, control_summary, llc_summary
from .tcp_options import options_text

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

# SPDX-License-Identifier: MIT
"""The detail tree of a packet, from its captured bytes."""

from .application import PARSERS, tell
from .dissect import Payload, dissect, payload_of
from .node import Node
from .told import Told

__all__ = ["PARSERS", "Node", "Payload", "Told", "dissect", "payload_of", "tell"]

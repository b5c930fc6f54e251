# SPDX-License-Identifier: MIT
"""The detail tree of a packet, from its captured bytes."""

from .application import Told, tell
from .dissect import dissect
from .node import Node

__all__ = ["Node", "Told", "dissect", "tell"]

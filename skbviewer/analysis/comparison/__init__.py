# SPDX-License-Identifier: MIT
"""Compare two recordings: effect sizes with intervals, changes, and two packets step by step."""

from .comparison import Amount, Comparison, Side, compare
from .conditions import Condition, Facts, conditions
from .differences import LEAST, LEVEL, Difference, differences
from .estimates import SECTIONS, Estimates, Measure
from .packet_steps import PacketSteps, Step, packet_steps
from .path_classes import PathClass
from .stack_pairs import StackPair, stack_pairs

__all__ = [
    "LEAST",
    "LEVEL",
    "SECTIONS",
    "Amount",
    "Comparison",
    "Condition",
    "Difference",
    "Estimates",
    "Facts",
    "Measure",
    "PacketSteps",
    "PathClass",
    "Side",
    "StackPair",
    "Step",
    "compare",
    "conditions",
    "differences",
    "packet_steps",
    "stack_pairs",
]

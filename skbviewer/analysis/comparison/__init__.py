# SPDX-License-Identifier: MIT
"""Compare two recordings: sizes of effects with intervals, changes, steps of two packets."""

from .comparison import Comparison, Side, compare
from .conditions import Condition, RecordingConditions, differing_conditions
from .differences import LEVEL, SMALLEST_CHANGE, Difference, differences
from .estimates import SECTIONS, Estimates, Measure
from .measurements import Amount, Measurements, measure
from .packet_steps import PacketSteps, Step, packet_steps
from .path_classes import PathClass
from .stack_pairs import StackPair, stack_pairs

__all__ = [
    "LEVEL",
    "SECTIONS",
    "SMALLEST_CHANGE",
    "Amount",
    "Comparison",
    "Condition",
    "Difference",
    "Estimates",
    "Measure",
    "Measurements",
    "PacketSteps",
    "PathClass",
    "RecordingConditions",
    "Side",
    "StackPair",
    "Step",
    "compare",
    "differences",
    "differing_conditions",
    "measure",
    "packet_steps",
    "stack_pairs",
]

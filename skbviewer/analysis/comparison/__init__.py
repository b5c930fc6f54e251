# SPDX-License-Identifier: MIT
"""Compare two recordings: effects with confidence intervals, changes, steps of two packets."""

from .aligned_packet_paths import PacketSteps, Step, packet_steps
from .comparison import Comparison, Side, compare
from .differential_flame_graph import StackPair, stack_pairs
from .estimate_differences import LEVEL, SMALLEST_CHANGE, Difference, differences
from .estimates import SECTIONS, Estimates, Measure
from .path_classes import PathClass
from .recording_differences import Condition, RecordingConditions, differing_conditions
from .recording_measurements import Amount, Measurements, measure

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

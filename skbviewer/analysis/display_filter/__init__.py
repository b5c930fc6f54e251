# SPDX-License-Identifier: MIT
"""The display filter: Wireshark's grammar over the columns of a session."""

from .check import fields_of_calls, lists_packets, parse
from .complete import Completion, complete
from .evaluate import evaluate
from .filter_errors import FilterError
from .filter_from_value import MODES, combine_filters, expression_for
from .plan import Plan

__all__ = [
    "MODES",
    "Completion",
    "FilterError",
    "Plan",
    "combine_filters",
    "complete",
    "evaluate",
    "expression_for",
    "fields_of_calls",
    "lists_packets",
    "parse",
]

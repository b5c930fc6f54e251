# SPDX-License-Identifier: MIT
"""The display filter: Wireshark's grammar over the columns of a session."""

from .checked_filter import Plan
from .filter_check import fields_of_calls, lists_packets, parse
from .filter_completion import Completion, complete
from .filter_errors import FilterError
from .filter_evaluation import evaluate
from .filter_from_value import MODES, combine_filters, expression_for

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

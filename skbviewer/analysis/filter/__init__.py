# SPDX-License-Identifier: MIT
"""The display filter: Wireshark's grammar over the columns of a session."""

from .check import parse
from .complete import Completion, complete
from .errors import FilterError
from .evaluate import evaluate
from .plan import Plan
from .words import MODES, combined, expression_for

__all__ = [
    "MODES",
    "Completion",
    "FilterError",
    "Plan",
    "combined",
    "complete",
    "evaluate",
    "expression_for",
    "parse",
]

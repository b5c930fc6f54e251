# SPDX-License-Identifier: MIT
"""The display filter: Wireshark's grammar over the columns of a session."""

from .check import parse
from .errors import FilterError
from .evaluate import evaluate
from .plan import Plan

__all__ = ["FilterError", "Plan", "evaluate", "parse"]

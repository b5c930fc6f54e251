# SPDX-License-Identifier: MIT
"""Why packets were slow or lost: findings with evidence, and rules that could not be judged."""

from .finding import Diagnosis, Evidence, Finding, Judged
from .judge import diagnose
from .packets_filter import packets_filter
from .rule_table import RULE_TABLE

__all__ = [
    "RULE_TABLE",
    "Diagnosis",
    "Evidence",
    "Finding",
    "Judged",
    "diagnose",
    "packets_filter",
]

# SPDX-License-Identifier: MIT
"""Why packets were slow or lost: findings with evidence, and rules that could not be judged."""

from .finding import Diagnosis, Evidence, Finding, Judged
from .packet_number_filter import packets_filter
from .rule_runner import diagnose
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

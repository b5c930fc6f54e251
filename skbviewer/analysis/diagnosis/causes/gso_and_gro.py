# SPDX-License-Identifier: MIT
"""Packets that the CPU cut (GSO) or merged (GRO)."""

from __future__ import annotations

from .. import required_data
from ..finding import Finding, Rule
from ..rule_inputs import Case
from ..slow_function_findings import Work, work_finding

NAME = "segmentation"


def _does(function: str) -> bool:
    return "gso" in function or "gro_" in function or "skb_segment" in function


WORK = Work(
    NAME,
    _does,
    "were cut or merged by the CPU (GSO, GRO)",
    "Large packets are cut, or small packets merged, in software: see 'ethtool -k' for tso and "
    "gro.",
)


def _find(case: Case) -> list[Finding]:
    return work_finding(case, WORK)


RULE = Rule(
    NAME, (required_data.calls(), required_data.functions("skb_segment", "dev_gro_receive")), _find
)

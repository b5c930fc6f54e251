# SPDX-License-Identifier: MIT
"""Packets whose checksums the CPU computed."""

from __future__ import annotations

from .. import required_data
from ..finding import Finding, Rule
from ..rule_inputs import Case
from ..slow_function_findings import Work, work_finding

NAME = "software-checksum"


def _does(function: str) -> bool:
    return "checksum" in function or "csum" in function


WORK = Work(
    NAME,
    _does,
    "had checksums computed by the CPU",
    "The device does not compute or check these checksums: see 'ethtool -k' (rx and tx "
    "checksumming).",
)


def _find(case: Case) -> list[Finding]:
    return work_finding(case, WORK)


RULE = Rule(
    NAME,
    (required_data.calls(), required_data.functions("__skb_checksum", "skb_checksum_help")),
    _find,
)

# SPDX-License-Identifier: MIT
"""Packets whose checksums the CPU computed."""

from __future__ import annotations

from .. import needs
from ..busy_in import Work, work_finding
from ..case import Case
from ..finding import Finding, Rule

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


RULE = Rule(NAME, (needs.calls(), needs.functions("__skb_checksum", "skb_checksum_help")), _find)

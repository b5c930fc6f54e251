# SPDX-License-Identifier: MIT
"""Packets for which the rules of netfilter took a noticeable time."""

from __future__ import annotations

from ...words.function_layers import layer_of
from .. import required_data
from ..finding import Finding, Rule
from ..rule_inputs import Case
from ..slow_function_findings import Work, work_finding
from . import conntrack, software_checksum

NAME = "netfilter"


def _does(function: str) -> bool:
    """Return whether a function is part of netfilter, and no other rule counts its work."""
    others = (conntrack.WORK, software_checksum.WORK)
    return layer_of(function) == "netfilter" and not any(work.does(function) for work in others)


WORK = Work(
    NAME,
    _does,
    "spent noticeable time in the hooks of netfilter",
    "The kernel checks many rules, or expensive ones, for these packets: see 'nft list ruleset'. "
    "Put the rules that match often first, and use sets and maps instead of many rules.",
)


def _find(case: Case) -> list[Finding]:
    return work_finding(case, WORK)


RULE = Rule(NAME, (required_data.calls(), required_data.functions("nf_hook_slow")), _find)

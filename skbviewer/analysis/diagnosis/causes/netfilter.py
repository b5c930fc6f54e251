# SPDX-License-Identifier: MIT
"""Packets for which the rules of netfilter took a noticeable time."""

from __future__ import annotations

from ...words.function_layers import layer_of
from .. import needs
from ..busy_in import Work, work_finding
from ..case import Case
from ..finding import Finding, Rule
from . import conntrack, software_checksum

NAME = "netfilter"


def _does(function: str) -> bool:
    """Return whether a function is part of netfilter, and its work counts in no other rule."""
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


RULE = Rule(NAME, (needs.calls(), needs.functions("nf_hook_slow")), _find)

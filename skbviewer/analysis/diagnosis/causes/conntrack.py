# SPDX-License-Identifier: MIT
"""Packets for which connection tracking took a noticeable time."""

from __future__ import annotations

from .. import required_data
from ..finding import Finding, Rule
from ..rule_inputs import Case
from ..slow_function_findings import Work, work_finding

NAME = "conntrack"
CONFIRM = frozenset({"nf_confirm", "ipv4_confirm", "ipv6_confirm"})  # new entries, after the hooks


def _does(function: str) -> bool:
    return "conntrack" in function or function.startswith("nf_ct_") or function in CONFIRM


HOW = (
    "load the module nf_conntrack, and add the line 'nf_conntrack_in skb@0' to the list of probes "
    "('kblrecord -f')"
)
WORK = Work(
    NAME,
    _does,
    "spent noticeable time in connection tracking",
    "Connection tracking looks up these packets' connections or adds new ones: see 'conntrack -S'. "
    "Exempt traffic that needs no connection tracking ('notrack' in nftables).",
)


def _find(case: Case) -> list[Finding]:
    return work_finding(case, WORK)


RULE = Rule(
    NAME, (required_data.calls(), required_data.functions("nf_conntrack_in", how=HOW)), _find
)

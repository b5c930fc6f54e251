# SPDX-License-Identifier: MIT
"""Packets whose data or headers were copied inside the kernel."""

from __future__ import annotations

from .. import required_data
from ..finding import Finding, Rule
from ..rule_inputs import Case
from ..slow_function_findings import Work, work_finding

NAME = "copies"
COPIES = frozenset(
    {
        "skb_copy", "__pskb_copy_fclone", "skb_copy_expand", "pskb_expand_head", "skb_copy_bits",
        "skb_copy_ubufs", "__skb_linearize", "skb_linearize",
    }
)  # fmt: skip


def _does(function: str) -> bool:
    return function in COPIES


WORK = Work(
    NAME,
    _does,
    "were copied in the kernel",
    "The kernel copied data or headers because they were shared, too short or not contiguous. "
    "Usual causes are a sniffer, a tunnel, or a device without scatter-gather.",
)


def _find(case: Case) -> list[Finding]:
    return work_finding(case, WORK)


RULE = Rule(
    NAME, (required_data.calls(), required_data.functions("pskb_expand_head", "skb_copy")), _find
)

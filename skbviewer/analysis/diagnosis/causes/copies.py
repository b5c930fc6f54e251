# SPDX-License-Identifier: MIT
"""Packets whose data or headers were copied inside the kernel."""

from __future__ import annotations

from .. import needs
from ..busy_in import Work, work_finding
from ..case import Case
from ..finding import Finding, Rule

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


RULE = Rule(NAME, (needs.calls(), needs.functions("pskb_expand_head", "skb_copy")), _find)

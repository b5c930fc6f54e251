# SPDX-License-Identifier: MIT
"""Why a match has its verdict, in one sentence."""

from __future__ import annotations

from ..matching import BY_KEY, BY_POINTS, BY_TIME, CONTESTED

VERDICTS = ("exact", "ambiguous", "wire-only")
RUNG_WORDS = ("", "ports", "TCP or ICMP sequence", "length and fragment offset")


def reason(verdict: int, rung: int, has_kbl: bool = True) -> str:
    """The sentence for a packet's or leg's verdict (index in VERDICTS) and ladder rung."""
    if verdict == 2:
        if not has_kbl:
            return "No kernel log is loaded."
        if rung == CONTESTED:
            return "Every packet life with this identity belongs to another packet."
        return "No packet life in the kernel log carries this packet's identity."
    if verdict == 1:
        return "Several packets share this identity and time does not tell them apart."
    if rung == BY_KEY:
        return "Only packet with this source, destination, identification and protocol."
    if rung == BY_POINTS:
        return "Only packet life with this identity; captured at several of its points."
    if rung == BY_TIME:
        return "Several candidates; the clock fit leaves only this one near in time."
    return f"The identity repeats; told apart by {RUNG_WORDS[rung]}."

# SPDX-License-Identifier: MIT
"""Why a match has its verdict, in one sentence."""

from __future__ import annotations

from ..matching import (
    BY_KEY,
    BY_POINTS,
    BY_SEGMENT,
    BY_TIME,
    CONTESTED,
    LATE,
    NAMELESS,
    UNSURE,
)

VERDICTS = ("exact", "ambiguous", "wire-only")
KERNEL_ONLY = 2  # of a series: the same number
RUNG_WORDS = (
    "",
    "ports",
    "TCP or ICMP sequence",
    "length and fragment offset",
    "IPv6 flow label or fragment identification",
)
LOST, NO_HEADER, SNIFFED, NO_IP = -1, -2, -3, -4  # rungs of series without a wire packet

_EXACT = {
    BY_KEY: "Only packet with this source, destination, identification and protocol.",
    BY_POINTS: "Only packet life with this identity; captured at several of its points.",
    BY_TIME: "Several candidates; the clock fit leaves only this one near in time.",
    BY_SEGMENT: "A segment of this larger packet: its sequence numbers lie in it (GSO, GRO).",
}
_AMBIGUOUS = {
    LATE: "The only packet life with this identity, but not at this time by the clock fit.",
    UNSURE: "The only packet life with this identity, which can come again: no clock tells.",
    NAMELESS: "No IP header was captured of it, and nothing tells it from others in time.",
}
_WIRE_ONLY = {
    CONTESTED: "Every packet life with this identity belongs to another packet.",
    NAMELESS: "No IP header was captured of it: nothing but time tells, and no life is near.",
}
_KERNEL_ONLY = {
    LOST: "Captured packets have its identity, but all belong to other packet lives.",
    NO_HEADER: "No network header was seen in it, so nothing tells which packet it is.",
    SNIFFED: "A sniffer's own copy of a packet.",
    NO_IP: "No IP header was seen in it: nothing but time tells, and no captured packet is near.",
}


def reason(verdict: int, rung: int, has_kbl: bool = True) -> str:
    """The sentence for a packet's or leg's verdict (index in VERDICTS) and ladder rung."""
    if verdict == 2:
        if not has_kbl:
            return "No kernel log is loaded."
        none = "No packet life in the kernel log carries this packet's identity."
        return _WIRE_ONLY.get(rung, none)
    if verdict == 1:
        several = "Several packets share this identity and time does not tell them apart."
        return _AMBIGUOUS.get(rung, several)
    return _EXACT.get(rung) or f"The identity repeats; told apart by {RUNG_WORDS[rung]}."


def series_reason(verdict: int, rung: int) -> str:
    """The sentence for the verdict of a series."""
    if verdict == KERNEL_ONLY:
        return _KERNEL_ONLY.get(rung, "No loaded capture holds this packet.")
    return reason(verdict, rung)

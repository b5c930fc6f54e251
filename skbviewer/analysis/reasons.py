# SPDX-License-Identifier: MIT
"""Why a match has its verdict, in one sentence: a line for each number in matching/rules.py."""

from __future__ import annotations

from ..matching import AMBIGUOUS, KERNEL_ONLY, WIRE_ONLY, LifetimeRung, Rung

VERDICTS = ("exact", "ambiguous", "wire-only")

_REPEATS = "The identity repeats; told apart by"
_EXACT: dict[int, str] = {
    Rung.BY_KEY: "Only packet with this source, destination, identification and protocol.",
    Rung.BY_PORTS: f"{_REPEATS} ports.",
    Rung.BY_SEQUENCE: f"{_REPEATS} TCP or ICMP sequence.",
    Rung.BY_LENGTH: f"{_REPEATS} length and fragment offset.",
    Rung.BY_IPV6: f"{_REPEATS} IPv6 flow label or fragment identification.",
    Rung.BY_POINTS: "Only packet life with this identity; captured at several of its points.",
    Rung.BY_TIME: "Several candidates; the clock fit leaves only this one near in time.",
    Rung.BY_SEGMENT: "A segment of this larger packet: its sequence numbers lie in it (GSO, GRO).",
}
_SEVERAL = "Several packets share this identity and time does not tell them apart."
_AMBIGUOUS: dict[int, str] = {
    Rung.BY_TIME: _SEVERAL,
    Rung.LATE: "The only packet life with this identity, but not at this time by the clock fit.",
    Rung.UNSURE: "The only packet life with this identity, which can come again: no clock tells.",
    Rung.NAMELESS: "No IP header was captured of it, and nothing tells it from others in time.",
}
_NO_LIFETIME = "No packet life in the kernel log carries this packet's identity."
_WIRE_ONLY: dict[int, str] = {
    Rung.BY_KEY: _NO_LIFETIME,
    Rung.CONTESTED: "Every packet life with this identity belongs to another packet.",
    Rung.NAMELESS: "No IP header was captured of it: nothing but time tells, and no life is near.",
}
_KERNEL_ONLY: dict[int, str] = {
    LifetimeRung.NOT_CAPTURED: "No loaded capture holds this packet.",
    LifetimeRung.TAKEN: (
        "Captured packets have its identity, but all belong to other packet lives."
    ),
    LifetimeRung.NO_HEADER: (
        "No network header was seen in it, so nothing tells which packet it is."
    ),
    LifetimeRung.SNIFFED: "A sniffer's own copy of a packet.",
    LifetimeRung.NO_IP: (
        "No IP header was seen in it: nothing but time tells, and no captured packet is near."
    ),
}
_KNOWN = frozenset(Rung)


def reason(verdict: int, rung: int, has_kbl: bool = True) -> str:
    """The sentence for a packet's or leg's verdict (index in VERDICTS) and ladder rung.

    Rules newer than this program may have given a rung that it does not know; it says so.
    """
    if verdict == WIRE_ONLY and not has_kbl:
        return "No kernel log is loaded."
    if rung not in _KNOWN:
        return _unknown(rung)
    if verdict == WIRE_ONLY:
        return _WIRE_ONLY.get(rung, _NO_LIFETIME)
    if verdict == AMBIGUOUS:
        return _AMBIGUOUS.get(rung, _SEVERAL)
    return _EXACT.get(rung) or _unknown(rung)


def series_reason(verdict: int, rung: int) -> str:
    """The sentence for the verdict of a series."""
    if verdict == KERNEL_ONLY:
        return _KERNEL_ONLY.get(rung) or _unknown(rung)
    return reason(verdict, rung)


def _unknown(rung: int) -> str:
    return f"A reason that this version of skbviewer does not know (number {rung})."

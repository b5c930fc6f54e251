# SPDX-License-Identifier: MIT
"""The reason for each verdict in one sentence, by its number in matching/match_rule_numbers.py."""

from __future__ import annotations

from ...matching import AMBIGUOUS, KERNEL_ONLY, SAMPLED_OUT, WIRE_ONLY, LifetimeRung, Rung

VERDICTS = ("exact", "ambiguous", "wire-only", "sampled-out")

_REPEATS = "Several packets have the same identity; they differ in their"
_EXACT: dict[int, str] = {
    Rung.BY_KEY: "The only packet with this source, destination, IP identification and protocol.",
    Rung.BY_PORTS: f"{_REPEATS} ports.",
    Rung.BY_SEQUENCE: f"{_REPEATS} TCP or ICMP sequence.",
    Rung.BY_LENGTH: f"{_REPEATS} length and fragment offset.",
    Rung.BY_IPV6: f"{_REPEATS} IPv6 flow label or fragment identification.",
    Rung.BY_POINTS: "Only one skb lifetime has this identity; the packet was captured at several "
    "of the devices that it passed.",
    Rung.BY_TIME: "No other skb lifetime fits the packet's identity, its time and its place in the "
    "order of packets.",
    Rung.BY_ADDRESS: (
        "A lifetime in another kernel log of this host has the same skb address at the same time."
    ),
    Rung.OF_LOG: (
        "The bytes come from the kernel log, whose tracer read them from this skb; no capture has "
        "this packet."
    ),
    Rung.BY_SEGMENT: (
        "The packet is a segment of a larger skb, whose sequence numbers include the packet's "
        "(GSO, GRO)."
    ),
}
_SEVERAL = "Several lifetimes have this identity, and more than one of them fits by order and time."
_AMBIGUOUS: dict[int, str] = {
    Rung.BY_TIME: _SEVERAL,
    Rung.LATE: "Lifetimes with this identity exist, but none of them was at the device when the "
    "packet was captured.",
    Rung.LACKING: "Records from the time of this packet are missing, perhaps the records of the "
    "packet's own lifetime.",
    Rung.TWICE: (
        "More packets with this identity were captured than passed the device: some were captured "
        "twice, or out of order."
    ),
    Rung.BY_POINTS_ONLY: (
        "The kernel log has only points: it shows neither which records are missing nor when a "
        "sniffer gets a packet."
    ),
    Rung.DOUBTED: (
        "Packets captured just before or after this packet contradict the clock fit: perhaps the "
        "clock was set between them."
    ),
    Rung.UNSURE: (
        "Nothing shows that capture and kernel log belong together; the capture may come from "
        "another run or host."
    ),
    Rung.NO_DEVICE: (
        "The times of the capture fit none of this host's devices, and another packet or lifetime "
        "close in time has the same identity."
    ),
    Rung.NAMELESS: (
        "The capture has no IP header of this packet, and several lifetimes are close to the "
        "packet in time."
    ),
}
_NO_LIFETIME = "No lifetime in the kernel log has this packet's identity."
_WIRE_ONLY: dict[int, str] = {
    Rung.BY_KEY: _NO_LIFETIME,
    Rung.CONTESTED: "Every lifetime with this identity belongs to another packet.",
    Rung.LACKING: (
        "No lifetime in the kernel log has this packet's identity, but records from that time are "
        "missing, perhaps the packet's."
    ),
    Rung.NAMELESS: (
        "The capture has no IP header of this packet, and no kernel record is close enough in time "
        "to match the packet."
    ),
}
_SAMPLED_OUT: dict[int, str] = {
    Rung.UNCHOSEN: (
        "The recorder kept one connection in N, chosen by a hash of addresses, protocol and ports; "
        "it did not choose this packet's connection."
    ),
    Rung.UNCHOSEN_PACKET: (
        "The kernel log has one packet in N, chosen by a hash of header fields; this packet was "
        "not chosen."
    ),
}
_KERNEL_ONLY: dict[int, str] = {
    LifetimeRung.NOT_CAPTURED: "No open capture contains this packet.",
    LifetimeRung.TAKEN: (
        "Captured packets have this identity, but all of them belong to other skb lifetimes."
    ),
    LifetimeRung.NO_HEADER: (
        "The kernel log has no network header of this packet, so the packet cannot be identified."
    ),
    LifetimeRung.SNIFFED: "This skb is a sniffer's own copy of a packet.",
    LifetimeRung.NO_IP: (
        "The kernel log has no IP header of this packet, and no captured packet is close enough in "
        "time to match the lifetime."
    ),
}
_KNOWN = frozenset(Rung)


def reason(verdict: int, rung: int, has_kbl: bool = True) -> str:
    """Return why a packet or leg has its verdict (an index of VERDICTS), as a sentence.

    `has_kbl` says whether the session has a kernel log.  `rung` is the number of the reason for the
    verdict.  If only a newer version knows the rung, the sentence says so.
    """
    if verdict == WIRE_ONLY and not has_kbl:
        return "No kernel log is loaded."
    if rung not in _KNOWN:
        return _unknown(rung)
    if verdict == SAMPLED_OUT:
        return _SAMPLED_OUT.get(rung) or _unknown(rung)
    if verdict == WIRE_ONLY:
        return _WIRE_ONLY.get(rung, _NO_LIFETIME)
    if verdict == AMBIGUOUS:
        return _AMBIGUOUS.get(rung, _SEVERAL)
    return _EXACT.get(rung) or _unknown(rung)


def series_reason(verdict: int, rung: int) -> str:
    """Return why an skb lifetime has its verdict, as a sentence."""
    if verdict == KERNEL_ONLY:
        return _KERNEL_ONLY.get(rung) or _unknown(rung)
    return reason(verdict, rung)


def _unknown(rung: int) -> str:
    return f"This version of skbviewer does not know the reason (number {rung})."

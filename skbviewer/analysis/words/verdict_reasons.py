# SPDX-License-Identifier: MIT
"""The reason for each verdict in one sentence, for each number in matching/rules.py."""

from __future__ import annotations

from ...matching import AMBIGUOUS, KERNEL_ONLY, SAMPLED_OUT, WIRE_ONLY, LifetimeRung, Rung

VERDICTS = ("exact", "ambiguous", "wire-only", "sampled-out")

_REPEATS = "The identity repeats; distinguished by"
_EXACT: dict[int, str] = {
    Rung.BY_KEY: "Only packet with this source, destination, identification and protocol.",
    Rung.BY_PORTS: f"{_REPEATS} ports.",
    Rung.BY_SEQUENCE: f"{_REPEATS} TCP or ICMP sequence.",
    Rung.BY_LENGTH: f"{_REPEATS} length and fragment offset.",
    Rung.BY_IPV6: f"{_REPEATS} IPv6 flow label or fragment identification.",
    Rung.BY_POINTS: "The only lifetime with this identity; captured at several of its devices.",
    Rung.BY_TIME: "No other lifetime fits the identity, the time and the order of the packets.",
    Rung.BY_ADDRESS: (
        "Its skb address and time are those of a lifetime in another kernel log of this host."
    ),
    Rung.OF_LOG: (
        "Bytes from the kernel log, which read them from this skb; no capture has this packet."
    ),
    Rung.BY_SEGMENT: (
        "A segment of this larger packet, whose sequence numbers include the segment's (GSO, GRO)."
    ),
}
_SEVERAL = "Several lifetimes have this identity, and order and time fit more than one."
_AMBIGUOUS: dict[int, str] = {
    Rung.BY_TIME: _SEVERAL,
    Rung.LATE: "Lifetimes have this identity, but none was at the device at this time.",
    Rung.LACKING: "Records of this time are missing, perhaps those of the packet's own lifetime.",
    Rung.TWICE: (
        "More such packets were captured than passed the device: some twice, or out of order."
    ),
    Rung.BY_POINTS_ONLY: (
        "The kernel log has points only: it shows neither which records it lacks nor when "
        "sniffers get packets."
    ),
    Rung.DOUBTED: (
        "Packets next to this one contradict the clock, which may have been set between them."
    ),
    Rung.UNSURE: (
        "Nothing shows that the capture is of this recording; it may be of another run or host."
    ),
    Rung.NO_DEVICE: (
        "None of this host's devices fits the times of the capture, and another packet or "
        "lifetime near in time has this identity."
    ),
    Rung.NAMELESS: (
        "The capture has no IP header for this packet, and several lifetimes are close in time."
    ),
}
_NO_LIFETIME = "No lifetime in the kernel log has this packet's identity."
_WIRE_ONLY: dict[int, str] = {
    Rung.BY_KEY: _NO_LIFETIME,
    Rung.CONTESTED: "Every lifetime with this identity belongs to another packet.",
    Rung.LACKING: (
        "No lifetime in the kernel log has this packet's identity, but the log lacks records of "
        "this time, perhaps the packet's."
    ),
    Rung.NAMELESS: (
        "The capture has no IP header for this packet, and no kernel record is close enough in "
        "time to match it."
    ),
}
_SAMPLED_OUT: dict[int, str] = {
    Rung.UNCHOSEN: (
        "The kernel log has one connection in N, chosen by a hash of addresses, protocol and "
        "ports; this packet's connection was not chosen."
    ),
    Rung.UNCHOSEN_PACKET: (
        "The kernel log has one packet in N, chosen by a hash of header fields; this packet was "
        "not chosen."
    ),
}
_KERNEL_ONLY: dict[int, str] = {
    LifetimeRung.NOT_CAPTURED: "No loaded capture holds this packet.",
    LifetimeRung.TAKEN: (
        "Captured packets have this identity, but all of them belong to other skb lifetimes."
    ),
    LifetimeRung.NO_HEADER: (
        "The kernel log has no network header for this packet, so it cannot be identified."
    ),
    LifetimeRung.SNIFFED: "A sniffer's own copy of a packet.",
    LifetimeRung.NO_IP: (
        "The kernel log has no IP header for this packet, and no captured packet is close enough "
        "in time to match it."
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
    return f"A reason that this version of skbviewer does not know (number {rung})."

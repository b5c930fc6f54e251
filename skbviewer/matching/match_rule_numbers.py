# SPDX-License-Identifier: MIT
"""The fixed numbers of matching rules, verdicts and rungs, which sessions store.

A session may be opened by a later version of the program than the version that made it.  So these
numbers are fixed by hand, and none is ever reused with a different meaning: if no rule uses a rung
any more, its line stays.  A new rung takes the next free number here, and its sentence goes to
analysis/words/verdict_reasons.py.
"""

from __future__ import annotations

from enum import IntEnum

# Raise by one when a packet or a lifetime may get another verdict or rung than before; then run
# `python -m tests.e2e.rules_golden`.
RULES = 19
UNNUMBERED = 0  # the number for sessions that were made before rules had one

EXACT, AMBIGUOUS, WIRE_ONLY, SAMPLED_OUT = 0, 1, 2, 3
KERNEL_ONLY = WIRE_ONLY  # the same number, for a lifetime


class Rung(IntEnum):
    """The reason for a verdict: a step of the identity ladder, or something else."""

    NAMELESS = -2  # no IP header was captured, and time did not decide either
    CONTESTED = -1  # every candidate belongs to another packet
    BY_KEY = 0  # source, destination, identification, protocol
    BY_PORTS = 1
    BY_SEQUENCE = 2  # of TCP or ICMP
    BY_LENGTH = 3  # total length, fragment offset
    BY_IPV6 = 4  # flow label, fragment identification
    BY_TIME = 5
    BY_POINTS = 6  # one lifetime, captured at several of its points
    BY_SEGMENT = 7  # a segment of a larger skb (GSO, GRO)
    LATE = 8  # one candidate, but not at this time
    UNSURE = 9  # nothing shows that the capture is of this recording
    LACKING = 10  # records of that time are missing; the packet's lifetime may be among them
    TWICE = 11  # more such packets than passed the device then: duplicates, or of another recording
    DOUBTED = 12  # packets next to it contradict the clock: it may have been set between them
    BY_POINTS_ONLY = 13  # the log has points of a tracer, which declare neither losses nor sniffers
    BY_ADDRESS = 14  # a lifetime in another log of the host had the same skb at the same time
    OF_LOG = 15  # the log of points holds the packet's bytes: no sniffer captured it
    NO_DEVICE = 16  # no device agrees with the capture's times; another packet has its identity
    UNCHOSEN = 17  # the recorder sampled connections, and left out the packet's
    UNCHOSEN_PACKET = 18  # the recorder sampled packets, and left out this one


class LifetimeRung(IntEnum):
    """The reason why a kernel-only lifetime has no packet.

    A lifetime whose verdict is not kernel-only has a Rung as its reason.
    """

    NO_IP = -4
    SNIFFED = -3  # a sniffer's own copy
    NO_HEADER = -2
    TAKEN = -1  # the packets with its identity belong to other lifetimes
    NOT_CAPTURED = 0


NAMELESS, CONTESTED = Rung.NAMELESS, Rung.CONTESTED
BY_KEY, BY_TIME, BY_POINTS, BY_SEGMENT = Rung.BY_KEY, Rung.BY_TIME, Rung.BY_POINTS, Rung.BY_SEGMENT
LATE, UNSURE = Rung.LATE, Rung.UNSURE
LACKING, TWICE = Rung.LACKING, Rung.TWICE

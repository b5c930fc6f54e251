# SPDX-License-Identifier: MIT
"""Find packets of flows in which an identity repeats within a short time.

Input: packets, and their pairs with moments, which were found with a larger clock error than the
clock really has.  Output: the packets that belong to flows with a repeated identity.  A log may
lack lifetimes at unknown times: because it was filtered, or because an older recorder only counted
missed hits.  A capture of another host contains packets that the host of the log never had.  A flow
in such a log or capture is trusted only if all its known packets differ: then the missing packets
are assumed to differ, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...records import Packets
from ...records.types import Bools, Int64s
from ..arrays.hash_join import hashed_rows
from ..identity.identity_columns import ADDRESS
from ..identity.identity_ladder_loops import FRAGMENT
from .tap_moment_conditions import Edges, by_packet

if TYPE_CHECKING:
    from ..match_types import KernelSide

NEAR_NS, NEAR_ERRORS = 20_000_000, 20  # greatest distance of a twin: ns, errors of the clock
FLOW = (*ADDRESS, "protocol", "ethertype")


def in_flow_with_twins(
    packets: Packets,
    kernel: KernelSide,
    error: Int64s,
    pairs: Callable[[Int64s], Edges],
    often: Int64s,
) -> Bools:
    """Return for each packet whether its flow has a packet with a twin, or it has no IP header.

    A packet has a twin if it has several lifetimes near its time, or if another packet may have its
    moment.  The packets `often` (row numbers) count as packets with a twin.  `pairs` returns the
    pairs of packets and moments for a given error of the clock (ns, by packet).  For the packets
    `often`, `pairs` returns only pairs with lifetimes near their time of capture, because these
    packets have too many other pairs.
    """
    edges = pairs(far(error))
    twin = np.zeros(len(packets), np.bool_)
    twin[often] = True
    series = np.asarray(kernel.moments["series"], np.int64)[edges.moment]
    low, high = by_packet(edges, series, len(packets))
    twin[(low < high) & (high >= 0)] = True
    part = np.stack([edges.moment, offsets(packets, edges.packet)], axis=1)
    _, back, count = np.unique(part, axis=0, return_inverse=True, return_counts=True)
    twin[edges.packet[count[back.reshape(-1)] > 1]] = True
    flow = hashed_rows(packets, FLOW)
    _, number = np.unique(flow, return_inverse=True)
    number = number.reshape(-1)
    has_twins = np.zeros(int(number.max(initial=0)) + 1, np.bool_)
    has_twins[number[twin]] = True
    return np.asarray(has_twins[number] | (packets["ip_version"] == 0))


def far(error: Int64s) -> Int64s:
    """Return for each packet the clock error (ns) within which its twins are searched.

    `error` is the clock's possible error for each packet; the result is larger.
    """
    return NEAR_NS + NEAR_ERRORS * error


def offsets(packets: Packets, packet: Int64s) -> Int64s:
    """Return the fragment offset of each packet of `packet` (row numbers); 0 for whole packets."""
    frag_off = packets["frag_off"][packet].astype(np.int64)
    return np.where(frag_off > 0, frag_off & FRAGMENT, 0)

# SPDX-License-Identifier: MIT
"""Packets of flows in which the same identity comes again within a short time.

In: packets and how they pair with moments when the clock is asked less sharply.  Out: which
packets are of such a flow.  A log may lack lifetimes without a word about when: by its filter, by
missed hits that an older recorder only counted; and a capture of another host holds packets that
never came here.  Then it is assumed that a flow whose packets all differ has no equal one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...records import Packets
from ...records.types import Bools, Int64s
from ..arrays.hash_join import hashed_rows
from ..identity.identity_columns import ADDRESS
from ..identity.identity_ladder import FRAGMENT
from .eligible_moments import Edges, by_packet

if TYPE_CHECKING:
    from ..model import KernelSide

NEAR_NS, NEAR_ERRORS = 20_000_000, 20  # how near in time twins are looked for
FLOW = (*ADDRESS, "protocol", "ethertype")


def company(
    packets: Packets,
    kernel: KernelSide,
    error: Int64s,
    pairs: Callable[[Int64s], Edges],
    often: Int64s,
) -> Bools:
    """Packets of flows in which a packet has several lifetimes nearby, or a moment several packets.

    `pairs` makes the edges of a clock that may be so far off (ns), of packets that have several
    `often` only those at their time.
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
    """Within what time twins are looked for, ns."""
    return NEAR_NS + NEAR_ERRORS * error


def offsets(packets: Packets, packet: Int64s) -> Int64s:
    """Which part of its datagram each of these packets is: 0 of a whole one."""
    frag_off = packets["frag_off"][packet].astype(np.int64)
    return np.where(frag_off > 0, frag_off & FRAGMENT, 0)

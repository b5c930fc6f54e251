# SPDX-License-Identifier: MIT
"""Use the device and the direction in the headers of a cooked capture (`tcpdump -i any`).

Input: the pairs (packet, moment) of a capture, and the headers' device and direction.  Output:
whether these are of the log's host, and then the pairs that they do not contradict.  A packet
socket writes into its headers at which device it got a packet, and whether the packet was sent
(sll_ifindex and sll_pkttype in tpacket_rcv() and packet_rcv(), net/packet/af_packet.c).
LINKTYPE_LINUX_SLL has only the direction, LINKTYPE_LINUX_SLL2 also the device.
"""

from __future__ import annotations

import numpy as np

from ...records import ColumnTable, Packets
from ...records.types import Bools
from ..clock.possible_capture_devices import MIN_STAMPS
from .tap_moment_conditions import Edges


def agreeing_cooked_headers(packets: Packets, moments: ColumnTable, edges: Edges) -> Bools:
    """Return for each pair whether the packet's cooked header agrees with the moment.

    They agree if device and direction are the same.  What either side does not know agrees.
    """
    device = np.asarray(packets["sll_ifindex"])[edges.packet]
    theirs = np.asarray(moments["ifindex"])[edges.moment]
    outgoing = np.asarray(packets["sll_outgoing"])[edges.packet]
    agrees = (device <= 0) | (theirs <= 0) | (device == theirs)
    agrees &= (outgoing < 0) | (outgoing == np.asarray(moments["sends"])[edges.moment])
    return np.asarray(agrees | ~np.asarray(moments["met"], np.bool_)[edges.moment])


def are_of_this_host(packets: Packets, moments: ColumnTable, edges: Edges, complete: Bools) -> bool:
    """Return whether the cooked headers are certainly those of a packet socket of the log's host.

    By packet: `complete` says whether its moment is certainly in the log.  Each of these packets
    must have a possible moment that agrees with its header.  Packets without a possible moment that
    contradicts their header confirm it.  They must change at least MIN_STAMPS times between sent
    and received in the order of the file.  The capture might otherwise be that of a virtual
    machine, which receives what this host sends, while an error of the clock hides the contrary.
    A program that converts captures may write one direction into all headers.
    """
    if not complete.any() or not (np.asarray(packets["sll_outgoing"])[complete] >= 0).all():
        return False
    agrees = agreeing_cooked_headers(packets, moments, edges)
    fits = np.zeros(len(packets), np.bool_)
    fits[edges.packet[agrees]] = True
    if not fits[complete].all():
        return False
    others = np.zeros(len(packets), np.bool_)
    others[edges.packet[~agrees]] = True
    sure = np.asarray(packets["sll_outgoing"])[complete & ~others]
    return int(np.count_nonzero(np.diff(sure))) >= MIN_STAMPS

# SPDX-License-Identifier: MIT
"""Find the moments at which each packet may have been captured, by tap_moment_conditions.py.

Input: pairs (packet, series) with agreeing identities, and the packets' times on the log's clock.
Output: pairs (packet, moment) that nothing contradicts: neither the clock, nor the header and
content that the log shows at the moment, nor the packet socket's call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records import Packets
from ...records.types import Bools, Int64s
from ..identity.identity_candidates import Candidates
from .cooked_headers import agreeing_cooked_headers
from .tap_moment_conditions import (
    Edges,
    agreeing_contents,
    agreeing_headers,
    of_one_ethertype,
    pairs_in_time,
    sent_as_other,
)

if TYPE_CHECKING:
    from ..match_types import KernelSide


class Asked(NamedTuple):
    """Packets with their candidate lifetimes, and facts about the capture and the log.

    By packet: `at` is its time on the log's clock, ns; `shown` is True if the log has its packet
    socket's call.  By moment: `here` is True if the capture may have been taken at its device;
    `doubtful` is True if the log may lack its packet socket's call.  `elsewhere` is True if another
    host may have captured some of the packets.  `cooked` is True if device and direction in the
    headers of a cooked capture are those of a packet socket of the log's host.
    """

    packets: Packets
    kernel: KernelSide
    found: Candidates
    at: Int64s
    here: Bools
    doubtful: Bools
    shown: Bools
    elsewhere: bool
    cooked: bool = False


class PossiblePairs(NamedTuple):
    """The possible pairs of packets and moments (`edges`), and two flags for each packet.

    `near`: one of its lifetimes has a moment at the packet's time, whatever header that moment
    shows.  `unsure`: the packet may have been captured at a further moment of its lifetimes.
    Either the log may lack the records that show this moment, or the header on the wire may have
    had a different EtherType than the skb.
    """

    edges: Edges
    near: Bools
    unsure: Bools


def possible_pairs(asked: Asked, error: Int64s) -> PossiblePairs:
    """Return the possible pairs of packets and moments, given the error of the clock.

    `error` is the clock's largest possible error (ns) at the time of each packet.
    """
    packets, kernel, found = asked.packets, asked.kernel, asked.found
    size, at_socket = len(packets), np.asarray(kernel.moments["socket"], np.bool_)
    near, unsure = np.zeros((2, size), np.bool_)
    made = pairs_in_time(kernel, found.packet, found.series, asked.at, error, asked.here)
    near[made.packet] = True
    if asked.cooked:
        made = made.selected(agreeing_cooked_headers(packets, kernel.moments, made))
    by_call = ~asked.shown[made.packet] | at_socket[made.moment]
    known = np.zeros(len(found.packet), np.bool_)
    known[made.pair[by_call]] = True
    lost = ~by_call & asked.doubtful[made.moment]
    unsure[made.packet[lost & known[made.pair]]] = True
    made = made.selected(by_call | lost & ~known[made.pair])
    unsure[sent_as_other(packets, kernel, made)] = True
    made = of_one_ethertype(packets, kernel, made)
    made = agreeing_headers(packets, kernel, made, asked.elsewhere)
    return PossiblePairs(agreeing_contents(packets, kernel, made), near, unsure)

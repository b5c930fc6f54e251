# SPDX-License-Identifier: MIT
"""Apply the conditions of tap_moment_conditions.py: when may each packet have been captured?

Input: pairs (packet, series) whose identities agree, the packets' times on the log's clock.
Output: pairs (packet, moment) that nothing contradicts: neither the clock, nor the header and
content that the log shows at the moment, nor a packet socket's call in the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...records import Packets
from ...records.types import Bools, Int64s
from ..identity.identity_candidates import Candidates
from .tap_moment_conditions import (
    Edges,
    agreeing_contents,
    agreeing_headers,
    at_the_stated_device,
    of_one_ethertype,
    pairs_in_time,
    sent_as_other,
)

if TYPE_CHECKING:
    from ..match_types import KernelSide


class Asked(NamedTuple):
    """Packets with their pairs, and facts about their capture.

    By packet: `at` is its time on the log's clock, ns; `shown`: the log has its packet socket's
    call.  By moment: `here`: the capture may have been taken there; `doubtful`: the packet socket's
    call may be missing.  `elsewhere`: another host may have captured some of the packets.
    """

    packets: Packets
    kernel: KernelSide
    found: Candidates
    at: Int64s
    here: Bools
    doubtful: Bools
    shown: Bools
    elsewhere: bool


class PossiblePairs(NamedTuple):
    """The possible pairs of packets and moments (`edges`), and two flags for each packet.

    `near`: a moment of its lifetimes is at its time, whatever header that moment shows.  `unsure`:
    a further moment of the same lifetimes is possible.  Either records that may show that moment
    are missing, or the skb may have been sent with bytes that have this EtherType.
    """

    edges: Edges
    near: Bools
    unsure: Bools


def possible_pairs(asked: Asked, error: Int64s) -> PossiblePairs:
    """Return the pairs of packets and moments that are possible with this error of the clock.

    `error` is the largest possible error of the clock (ns, by packet).
    """
    packets, kernel, found = asked.packets, asked.kernel, asked.found
    size, at_socket = len(packets), np.asarray(kernel.moments["socket"], np.bool_)
    near, unsure = np.zeros((2, size), np.bool_)
    made = pairs_in_time(kernel, found.packet, found.series, asked.at, error, asked.here)
    near[made.packet] = True
    if not asked.elsewhere:
        made = at_the_stated_device(packets, kernel, made)
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

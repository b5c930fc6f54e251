# SPDX-License-Identifier: MIT
"""Find network namespaces in which a capture of all devices was certainly not taken.

Input: pairs (packet, moment) of a capture with `tcpdump -i any`, and the packets of which the log
certainly has all moments.  Output: the moments that are in other namespaces.  A packet socket gets
packets of one network namespace, its own (dev_net() in packet_rcv() and tpacket_rcv(),
net/packet/af_packet.c).  So if a packet of a capture has no moment in a namespace, the capture was
not taken in that namespace.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records import ColumnTable
from ...records.types import Bools
from ..clock.possible_capture_devices import MIN_STAMPS
from .tap_moment_conditions import Edges


def in_other_namespaces(moments: ColumnTable, edges: Edges, complete: Bools) -> Bools:
    """Return for each moment whether it is in a namespace where the capture was not taken.

    `edges` are the possible pairs of packets and moments.  By packet: `complete` says whether the
    log has all its moments.  A namespace is excluded only if MIN_STAMPS packets have no moment
    there, because a single packet may be paired with the lifetime of another packet.  If no
    namespace has a moment of every packet, none is excluded: then the capture has packets of
    several sockets.
    """
    netns, ifindex = (np.asarray(moments[name], np.int64) for name in ("netns", "ifindex"))
    known = ifindex > 0  # otherwise the record that shows the device may be lost
    names, name = np.unique(netns[known], return_inverse=True)
    space = np.full(len(netns), len(names), np.int64)  # the last stands for any namespace
    space[known] = name.reshape(-1)
    some = complete[edges.packet]
    lacking = _lacking(edges.packet[some], space[edges.moment[some]], len(names))
    if lacking.min(initial=MIN_STAMPS) > 0:
        return np.zeros(len(netns), np.bool_)
    return np.append(lacking >= MIN_STAMPS, False)[space]


def _lacking(
    packet: npt.NDArray[np.int64], space: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    """Return for each of `count` namespaces the number of packets without a moment there.

    By pair: its packet, and the number of its moment's namespace; the number `count` stands for any
    namespace.
    """
    pairs = np.unique(np.stack([packet, space]), axis=1)
    anywhere = pairs[0][pairs[1] == count]
    pairs = pairs[:, ~np.isin(pairs[0], anywhere)]
    have = np.bincount(pairs[1], minlength=count)[:count]
    return np.asarray(len(np.unique(pairs[0])) - have, np.int64)

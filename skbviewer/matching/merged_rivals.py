# SPDX-License-Identifier: MIT
"""Doubt an exact pair if the packet may be one that GRO merged, of another lifetime.

In: the decided pairs of one interface, the clock.  Out: these pairs; those in doubt are ambiguous.

GRO writes the new length into the IP header at the end (inet_gro_complete()), and a log may show
the header that the first segment had.  Such an skb contradicts the packet by its length.  If the
packet was sent on the same host as one large skb, this has the same identification and the same
length, so identity alone would choose it where records are missing: its own moment may be lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..records import Packets
from .assignment.file_order import NO_MOMENT
from .candidates.eligible_moments import between
from .candidates.gso_candidates import segments
from .clock.clock_fit import ClockFit
from .decide import Decided, all_ambiguous
from .rules import AMBIGUOUS, BY_TIME, EXACT
from .solve import incomplete

if TYPE_CHECKING:
    from .model import KernelSide


def doubt_merged(
    packets: Packets, kernel: KernelSide, pairs: Decided, clock: ClockFit | None
) -> Decided:
    """Return `pairs`; a packet that another merged skb may be at its time is ambiguous.

    The pairs with these skbs are appended.  Without a clock nothing excludes such an skb.
    """
    size = np.asarray(kernel.prints.rows["gso_size"])
    size = size[size > 0]
    exact = pairs.verdict == EXACT
    if not len(size) or not exact.any() or not incomplete(kernel.log):
        return pairs
    series = np.full(len(packets), -1, np.int64)
    series[pairs.packet[exact]] = pairs.series[exact]
    several = np.flatnonzero((series >= 0) & (packets["payload"] > size.min()))
    rivals = segments(packets, kernel, several)
    rivals = rivals.only(rivals.series != series[rivals.packet])
    if clock is not None and len(rivals.packet):
        every = np.arange(len(packets))
        at, error = clock.to_kernel(packets["ts"], every), clock.error(packets["ts"], every)
        here = np.ones(len(kernel.moments), np.bool_)
        edges = between(kernel, rivals.packet, rivals.series, at, error, here)
        near = np.zeros(len(rivals.packet), np.bool_)
        near[edges.pair] = True
        rivals = rivals.only(near)
    if not len(rivals.packet):
        return pairs
    doubted = np.isin(pairs.packet, rivals.packet)
    made = pairs._replace(
        verdict=np.where(doubted, AMBIGUOUS, pairs.verdict).astype(np.uint8),
        rung=np.where(doubted, BY_TIME, pairs.rung).astype(np.int8),
        confidence=np.where(doubted, 0.0, pairs.confidence),
        moment=np.where(doubted, NO_MOMENT, pairs.moment),
    )
    both = [made, all_ambiguous(rivals, BY_TIME)]
    return Decided._make(np.concatenate(columns) for columns in zip(*both, strict=True))

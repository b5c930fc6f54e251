# SPDX-License-Identifier: MIT
"""Find calls of packet sockets that may have got a sniffer's copy whose birth the log lacks.

Input: the records of one KBL with their series.  Output: a flag for each call in question.  Before
a packet is sent, dev_queue_xmit_nit() clones its skb for the sniffers (net/core/dev.c).  If the
probe on skb_clone() missed this hit, the clone seems to be a packet of its own that was received.
Such a clone has the identity of the sent packet, but is not its lifetime.
"""

from __future__ import annotations

import numpy as np

from ...records import KernelLog, part
from ...records.types import EARLIEST_NS, LATEST_NS, Bools, Int64s
from ..kernel_functions import SENDING_TAP
from ..lifetimes.skb_lifetimes import SeriesTable
from .recorded_births import births


def sent_as_unborn(log: KernelLog, series: SeriesTable, calls: Int64s) -> Bools:
    """Return for each call of a packet socket whether a sender's tap made it with an unknown clone.

    The tap gives packet sockets only clones.
    """
    senders = [a for a, name in log.symbols.items() if name.split("+")[0] in SENDING_TAP]
    by_sender = np.isin(part(log.records, "caller", calls), np.array(senders, np.int64))
    owner = series.of[calls]
    return np.asarray(by_sender & (owner >= 0) & ~series.tap[owner])


def perhaps_unborn(log: KernelLog, series: SeriesTable, calls: Int64s, received: Int64s) -> Bools:
    """Return for each call of a packet socket whether its skb may be a clone of unknown birth.

    This is so if the log shows neither the birth of the skb nor that it was received before.
    `received` are the records that show reception (row numbers).
    """
    first = np.full(len(series.parent) + 1, LATEST_NS)
    np.minimum.at(first, series.of[received], series.met[received])
    owner = series.of[calls]
    unborn = births(log.records, series)[owner] == EARLIEST_NS
    return np.asarray(
        (owner >= 0) & ~series.tap[owner] & unborn & (first[owner] > series.met[calls])
    )

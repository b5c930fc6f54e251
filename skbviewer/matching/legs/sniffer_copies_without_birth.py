# SPDX-License-Identifier: MIT
"""Find lifetimes that may be copies for a sniffer although the log lacks their birth.

Input: the records of one KBL with their series.  Output: for each lifetime whether it may be such a
copy, and for each call of a packet socket whether it got one.  Before a packet is sent,
dev_queue_xmit_nit() clones its skb for the sniffers (net/core/dev.c).  If the probe on skb_clone()
missed this call, the clone seems to be another packet.  The clone has the identity of the sent
packet, but it is not the lifetime of the packet.
"""

from __future__ import annotations

import numpy as np

from ...records import KernelLog, part
from ...records.types import EARLIEST_NS, LATEST_NS, Bools, Int64s
from ..kernel_functions import SENDING_TAP
from ..lifetimes.skb_lifetimes import SeriesTable
from .skb_births import births


def unborn(log: KernelLog, series: SeriesTable) -> Bools:
    """Return for each lifetime whether the log lacks its birth.

    A known copy has the flag False.
    """
    return np.asarray((births(log.records, series) == EARLIEST_NS) & ~series.tap)


def of_known_skbs(
    log: KernelLog, series: SeriesTable, calls: Int64s, received: Int64s, without_birth: Int64s
) -> Int64s:
    """Return `calls` of packet sockets, except those that got a copy whose birth is not recorded.

    `received` are records that show that an skb was received.  `without_birth` are lifetimes
    without a recorded birth.  A lifetime is no copy for a sniffer if its skb was received before
    the call.
    """
    calls = calls[~_sent_to_sniffers(log, series, calls)]
    if not len(without_birth):
        return calls
    late = _shown_first(series, received)[series.of[calls]] > series.met[calls]
    return calls[~(late & np.isin(series.of[calls], without_birth))]


def perhaps_copies(
    series: SeriesTable, without_birth: Int64s, entries: Int64s, of_sockets: Int64s
) -> Int64s:
    """Return the lifetimes of `without_birth` that may be copies for sniffers.

    No record shows a copy for a sniffer at a device, or while it is received.  `entries` are the
    records that show that an skb is at a device, or is received.  Calls of packet sockets
    (`of_sockets`) do not count among `entries`, because packet sockets get copies, too.
    """
    if not len(without_birth):
        return without_birth
    first = _shown_first(series, np.setdiff1d(entries, of_sockets))
    return np.asarray(without_birth[first[without_birth] == LATEST_NS], np.int64)


def _sent_to_sniffers(log: KernelLog, series: SeriesTable, calls: Int64s) -> Bools:
    """Return for each call whether dev_queue_xmit_nit() made it with an skb that is no known clone.

    dev_queue_xmit_nit() gives only clones to packet sockets.
    """
    senders = [a for a, name in log.symbols.items() if name.split("+")[0] in SENDING_TAP]
    by_sender = np.isin(part(log.records, "caller", calls), np.array(senders, np.int64))
    owner = series.of[calls]
    return np.asarray(by_sender & (owner >= 0) & ~series.tap[owner])


def _shown_first(series: SeriesTable, records: Int64s) -> Int64s:
    """Return for each lifetime the time (ns) of its first record among `records` (row numbers).

    A lifetime without any of these records gets LATEST_NS.
    """
    first = np.full(len(series.parent) + 1, LATEST_NS)  # the last stands for "no lifetime"
    np.minimum.at(first, series.of[records], series.met[records])
    return first[:-1]

# SPDX-License-Identifier: MIT
"""Find lifetimes that may be a sniffer's copy whose birth the log lacks, and calls that show one.

Input: the records of one KBL with their series.  Output: flags for lifetimes and for calls of
packet sockets.  Before a packet is sent, dev_queue_xmit_nit() clones its skb for the sniffers
(net/core/dev.c).  If the probe on skb_clone() missed this hit, the clone seems to be a packet of
its own.  It has the identity of the sent packet, but is not the packet's lifetime.
"""

from __future__ import annotations

import numpy as np

from ...records import KernelLog, part
from ...records.types import EARLIEST_NS, LATEST_NS, Bools, Int64s
from ..kernel_functions import SENDING_TAP
from ..lifetimes.skb_lifetimes import SeriesTable
from .skb_births import births


def unborn(log: KernelLog, series: SeriesTable) -> Bools:
    """Return for each lifetime whether the log lacks its birth.  False for a known copy."""
    return np.asarray((births(log.records, series) == EARLIEST_NS) & ~series.tap)


def of_known_skbs(
    log: KernelLog, series: SeriesTable, calls: Int64s, received: Int64s, without_birth: Int64s
) -> Int64s:
    """Return the calls of packet sockets, without those of copies whose birth is not recorded.

    `received` are the records that show reception.  `without_birth` are the lifetimes without a
    recorded birth.  They are no copies if they were received before the call.
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

    No record shows them at a device, or being received.  Such records are `entries`, but not the
    calls `of_sockets` of packet sockets among them, which copies for sniffers reach, too.
    """
    if not len(without_birth):
        return without_birth
    first = _shown_first(series, np.setdiff1d(entries, of_sockets))
    return np.asarray(without_birth[first[without_birth] == LATEST_NS], np.int64)


def _sent_to_sniffers(log: KernelLog, series: SeriesTable, calls: Int64s) -> Bools:
    """Return for each call whether dev_queue_xmit_nit() made it with an skb not known as a clone.

    That function gives packet sockets only clones.
    """
    senders = [a for a, name in log.symbols.items() if name.split("+")[0] in SENDING_TAP]
    by_sender = np.isin(part(log.records, "caller", calls), np.array(senders, np.int64))
    owner = series.of[calls]
    return np.asarray(by_sender & (owner >= 0) & ~series.tap[owner])


def _shown_first(series: SeriesTable, records: Int64s) -> Int64s:
    """Return for each lifetime the time (ns) of its first record in `records` (row numbers).

    LATEST_NS if it has none.
    """
    first = np.full(len(series.parent) + 1, LATEST_NS)  # the last stands for "no lifetime"
    np.minimum.at(first, series.of[records], series.met[records])
    return first[:-1]

# SPDX-License-Identifier: MIT
"""Find which series show a footprint, and which rows are stale: loops of identity_candidates.py."""

from __future__ import annotations

from ...records import SEEN
from ...records.compiled import allocation_free
from ...records.types import Bools, Int32s, Int64s, UInt8s
from ..arrays.hash_join_loops import Hash, place
from ..record_kinds import ENTRY


@allocation_free
def note_owners(
    kind: UInt8s,
    number: Int32s,
    series: Int32s,
    known: Bools,
    sniffed: Bools,
    first: Int32s,
    least: Int32s,
    most: Int32s,
) -> int:
    """Find the records and the series of each footprint.

    By footprint: sets `first` to its first record, and `least` and `most` to the lowest and the
    highest series that has it.  By record: its `kind`, the `number` of its footprint, and its
    `series`.  By footprint: `known` is True if the footprint has an identity.  By series: `sniffed`
    is True if the series is a copy for a packet socket.  Returns how many records have a footprint
    that several series have.
    """
    for i in range(len(kind)):
        s, n = series[i], number[i]
        if (kind[i] == ENTRY or kind[i] == SEEN) and s >= 0 and known[n] and not sniffed[s]:
            if first[n] < 0:
                first[n], least[n] = i, s
            least[n], most[n] = min(least[n], s), max(most[n], s)
    several = 0
    for i in range(len(kind)):
        s, n = series[i], number[i]
        shows = (kind[i] == ENTRY or kind[i] == SEEN) and s >= 0
        if shows and least[n] < most[n] and not sniffed[s]:
            several += 1
    return several


@allocation_free
def records_of_several(
    kind: UInt8s, number: Int32s, series: Int32s, sniffed: Bools, shared: Bools, index: Int64s
) -> None:
    """Write into `index` the records whose footprint belongs to several series.

    `shared` marks these footprints; note_owners() explains the other arrays.
    """
    at = 0
    for i in range(len(kind)):
        s, n = series[i], number[i]
        if (kind[i] == ENTRY or kind[i] == SEEN) and s >= 0 and shared[n] and not sniffed[s]:
            index[at] = i
            at += 1


@allocation_free
def keep_last(keys: Hash, ip_id: Int64s, at: Int64s, slots: Int32s, keep: Bools) -> None:
    """Mark each row that has the identification of the last row with the same key.

    The rows are in order of time.  The mark of row i is keep[at[i]].  `slots` is an empty hash
    table for `keys`.
    """
    for i in range(len(keys) - 1, -1, -1):
        slot = place(keys[i], keys, slots)
        if slots[slot] < 0:
            slots[slot] = i
        keep[at[i]] = ip_id[i] == ip_id[slots[slot]]

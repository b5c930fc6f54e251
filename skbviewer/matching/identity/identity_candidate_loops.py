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
    """Find the records and series of each footprint; count the records whose footprint is shared.

    Writes, by footprint: `first` is its first record; `least` and `most` are the lowest and highest
    series that have it.  By record: `kind`, `number` of its footprint and `series`.  By footprint:
    `known`, it has an identity.  By series: `sniffed`, it is a copy for a packet socket.  Returns
    the number of records whose footprint several series have.
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

    `shared` marks these footprints.  The other arrays are those of note_owners().
    """
    at = 0
    for i in range(len(kind)):
        s, n = series[i], number[i]
        if (kind[i] == ENTRY or kind[i] == SEEN) and s >= 0 and shared[n] and not sniffed[s]:
            index[at] = i
            at += 1


@allocation_free
def keep_last(keys: Hash, ip_id: Int64s, at: Int64s, slots: Int32s, keep: Bools) -> None:
    """Mark in `keep` the rows that have the identification of the last row with the same key.

    Rows are in order of time.  Row i is at index at[i] in `keep`.  `slots` is an empty hash table
    of `keys`.
    """
    for i in range(len(keys) - 1, -1, -1):
        slot = place(keys[i], keys, slots)
        if slots[slot] < 0:
            slots[slot] = i
        keep[at[i]] = ip_id[i] == ip_id[slots[slot]]

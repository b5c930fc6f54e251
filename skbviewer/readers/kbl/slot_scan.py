# SPDX-License-Identifier: MIT
"""First pass over the slots: count head slots, find their times, and measure footprints.

Head slots are numbered in file order; this number is the ordinal of the record.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records import counted, verb
from ...records import kbl_layout as kbl
from ...records.types import Int64s, UInt8s, UInt64s
from .chunk_search import Chunk
from .slot_blocks import slots_of
from .slot_scan_loops import COUNTED, ROWS, STRAY, UNKNOWNS, WRONG, Cpus, scan_slots

TYPES, WORDS = max(kbl.KblExtType) + 1, kbl.KBL_SLOT_SIZE // 8


class Scan(NamedTuple):
    """The results of the first pass: one row for each head slot, and totals.

    `order` is the class of the row, by which rows of equal times are sorted: entries (MINE), then
    CARRY events (CARRIED; FIRST_CARRIED if their index is below 0), then OTHER.  `cpu` is the CPU
    on which a CALL was entered.
    """

    ts: Int64s
    order: UInt8s
    cpu: Cpus
    bits: UInt64s  # by EXT slot type: OR of all such slots; in row 0: OR of the socket addresses
    counts: Int64s
    complaints: list[str]


class Scanner:
    """Scans the slots of a file, chunk after chunk."""

    def __init__(self, size: int, order: str, version: int) -> None:
        """Allocate arrays; `size` is an upper bound for the bytes of all chunks together."""
        most = size // kbl.KBL_SLOT_SIZE
        self._order, self._version = order, version
        self._ts, self._class = np.empty(most, np.int64), np.empty(most, np.uint8)
        self._cpu, self._counts = np.empty(most, np.uint16), np.zeros(COUNTED, np.int64)
        self._bits = np.zeros((TYPES, WORDS), np.uint64)
        self._differing = 0

    def scan_chunk(self, chunk: Chunk, payload: UInt8s) -> None:
        """Add the times, CPUs and classes of the slots in `payload` to the result."""
        before, counts = int(self._counts[ROWS]), self._counts
        scan_slots(
            slots_of(payload, self._order),
            chunk.cpu,
            self._version,
            self._ts,
            self._class,
            self._cpu,
            self._bits,
            counts,
        )
        ragged = len(payload) % kbl.KBL_SLOT_SIZE != 0
        self._differing += ragged or int(counts[ROWS]) - before != chunk.items

    def result(self) -> Scan:
        """Return the result for all chunks.

        Call this method only once, because the scanner does not keep its arrays.
        """
        rows = int(self._counts[ROWS])
        columns = (self._ts[:rows], self._class[:rows], self._cpu[:rows])
        del self._ts, self._class, self._cpu
        complaints = _complaints(self._differing, self._counts)
        return Scan(*columns, self._bits, self._counts, complaints)


def _complaints(differing: int, counts: Int64s) -> list[str]:
    wrong, stray, unknown = (int(counts[at]) for at in (WRONG, STRAY, UNKNOWNS))
    do, they = verb(wrong, "does", "do"), verb(wrong, "it claims", "they claim")
    belong = verb(stray, "belongs", "belong")
    differ, whose = counted(differing, "chunk"), verb(differing, "its header's", "their header's")
    found = (
        (wrong, f"{counted(wrong, 'record')} {do} not have as many EXT slots as {they}"),
        (stray, f"left out: {counted(stray, 'EXT slot')} that {belong} to no record"),
        (differing, f"{differ} whose number of records differs from {whose}"),
        (unknown, f"{counted(unknown, 'record')} of an unknown kind: left out"),
    )
    return [what for count, what in found if count]

# SPDX-License-Identifier: MIT
"""First look at the slots: which head slots there are, when, and how much they tell.

Head slots are numbered in file order; that number is a record's ordinal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..records import Progress
from ..records.compiled import compiled
from . import _kbl_layout as kbl
from .kbl_chunks import Chunk
from .kbl_slots import EXT, Slots, blocks, most_slots
from .wire import Bytes, Ints

ENTRY, EXIT, CALL, EVENT, LOST = (
    int(kbl.KblKind[name]) for name in ("ENTRY", "EXIT", "CALL", "EVENT", "LOST")
)
CARRY, FOOTPRINT = int(kbl.KblEvent.CARRY), int(kbl.KblEvent.FOOTPRINT)
EXT_IPV4, EXT_IPV6, EXT_IPV6_L4, EXT_SKB, EXT_CALL, EXT_COUNTER = (
    int(kbl.KblExtType[name]) for name in ("IPV4", "IPV6", "IPV6_L4", "SKB", "CALL", "COUNTER")
)
FLAG_SOCK, MAX_EXT = kbl.KBL_FLAG_SOCK, kbl.KBL_MAX_EXT
MINE, FIRST_CARRIED, CARRIED, OTHER, UNKNOWN = range(5)  # classes, see Scan
# Positions in what is counted.
ROWS, WRONG, STRAY, PRINTS, ASIDE, LOSSES, CARRIES, UNKNOWNS, COUNTED = range(9)

Small = npt.NDArray[np.uint8]
Cpus = npt.NDArray[np.uint16]


class Scan(NamedTuple):
    """One row a head slot.

    `order` is the class: at one time entries (MINE) come first, then CARRY events (CARRIED;
    FIRST_CARRIED if their index is below 0), then OTHER.  `cpu` is that of a CALL's entry.
    """

    ts: Ints
    order: Small
    cpu: Cpus
    prints: Ints  # of each block, how many records tell a footprint
    counts: Ints
    complaints: list[str]


def scan_slots(
    data: Bytes, chunks: list[Chunk], order: str, version: int, progress: Progress
) -> Scan:
    """Look at all slots of some chunks.  Raises Cancelled."""
    most = most_slots(chunks)
    ts, class_ = np.empty(most, np.int64), np.empty(most, np.uint8)
    cpu, counts = np.empty(most, np.uint16), np.zeros(COUNTED, np.int64)
    per_chunk, prints = [np.zeros(0, np.int64)], []
    for block in blocks(data, chunks, order, progress):
        before = int(counts[PRINTS])
        rows = np.zeros(len(block.cpu), np.int64)
        _scan(block.slots, block.begin, block.cpu, version, ts, class_, cpu, rows, counts)
        per_chunk.append(rows)
        prints.append(int(counts[PRINTS]) - before)
    found = int(counts[ROWS])
    complaints = _complaints(chunks, np.concatenate(per_chunk), counts)
    columns = (ts[:found], class_[:found], cpu[:found])
    return Scan(*columns, np.array(prints, np.int64), counts, complaints)


def _complaints(chunks: list[Chunk], per_chunk: Ints, counts: Ints) -> list[str]:
    claimed = np.array([chunk.items for chunk in chunks], np.int64)
    ragged = [(chunk.end - chunk.begin) % kbl.KBL_SLOT_SIZE != 0 for chunk in chunks]
    differing = np.count_nonzero((per_chunk != claimed) | np.array(ragged, bool))
    found = (
        (counts[WRONG], "records do not have as many EXT slots as they claim"),
        (counts[STRAY], "EXT slots belong to no record: left out"),
        (differing, "chunks whose number of records differs from their header's"),
        (counts[UNKNOWNS], "records of an unknown kind: left out"),
    )
    return [f"{count} {what}" for count, what in found if count]


@compiled
def _scan(
    slots: Slots,
    begin: Ints,
    cpus: Ints,
    version: int,
    ts: Ints,
    class_: Small,
    cpu: Cpus,
    per_chunk: Ints,
    counts: Ints,
) -> None:
    """Add the slots of a block; `per_chunk` gets the number of head slots of each chunk."""
    row = counts[ROWS]
    for chunk in range(len(cpus)):
        claimed, kind = np.int64(0), np.int64(-1)  # of the record that is open
        followed, tells = 0, 0
        first = row
        for i in range(begin[chunk], begin[chunk + 1]):
            slot = slots[i]
            if slot["call_kind"] == EXT:
                followed += 1
                type_ = slot["ipv4_type"]
                if kind < 0 or followed > claimed:
                    counts[STRAY] += 1
                elif type_ in (EXT_IPV4, EXT_IPV6, EXT_IPV6_L4, EXT_SKB):
                    tells = 1
                elif type_ != EXT_CALL:
                    counts[ASIDE] += 1
                continue
            if kind >= 0:
                counts[WRONG] += claimed != followed or claimed > MAX_EXT
                counts[PRINTS] += tells
            kind, claimed, followed = np.int64(slot["call_kind"]), np.int64(slot["call_ext"]), 0
            is_call = kind in (ENTRY, EXIT) or (kind == CALL and version > 2)
            tells = 1 if is_call and (slot["call_flags"] & FLAG_SOCK) != 0 else 0
            ts[row] = slot["call_ts"]
            cpu[row] = cpus[chunk]
            class_[row] = OTHER
            if kind == CALL and version > 2:
                cpu[row] = slot["span_entry_cpu"]
                class_[row] = MINE
            elif kind == ENTRY:
                class_[row] = MINE
            elif kind == EVENT:
                if slot["event_event"] == CARRY and version > 2:
                    counts[CARRIES] += 1
                    class_[row] = CARRIED if np.int64(slot["event_data"]) >= 0 else FIRST_CARRIED
            elif kind == LOST:
                counts[LOSSES] += 1
            elif kind != EXIT:
                counts[UNKNOWNS] += 1
                class_[row] = UNKNOWN
            row += 1
        if kind >= 0:
            counts[WRONG] += claimed != followed or claimed > MAX_EXT
            counts[PRINTS] += tells
        per_chunk[chunk] = row - first
    counts[ROWS] = row

# SPDX-License-Identifier: MIT
"""Count the slots of a chunk: the loop of slot_scan.py."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...records import kbl_layout as kbl
from ...records.compiled import allocation_free
from ...records.types import Int64s, UInt8s, UInt64s
from .slot_blocks import EXT, Slots

ENTRY, EXIT, CALL, EVENT, LOST = (
    int(kbl.KblKind[name]) for name in ("ENTRY", "EXIT", "CALL", "EVENT", "LOST")
)
CARRY, FOOTPRINT = int(kbl.KblEvent.CARRY), int(kbl.KblEvent.FOOTPRINT)
EXT_IPV4, EXT_IPV6, EXT_IPV6_L4, EXT_SKB, EXT_CALL, EXT_COUNTER = (
    int(kbl.KblExtType[name]) for name in ("IPV4", "IPV6", "IPV6_L4", "SKB", "CALL", "COUNTER")
)
FLAG_SOCK, MAX_EXT = kbl.KBL_FLAG_SOCK, kbl.KBL_MAX_EXT
MINE, FIRST_CARRIED, CARRIED, OTHER, UNKNOWN = range(5)  # classes, see Scan
# Indices of the counts.
ROWS, WRONG, STRAY, PRINTS, ASIDE, LOSSES, CARRIES, UNKNOWNS, COUNTED = range(9)

Cpus = npt.NDArray[np.uint16]


@allocation_free
def scan_slots(
    slots: Slots,
    on: int,
    version: int,
    ts: Int64s,
    class_: UInt8s,
    cpu: Cpus,
    bits: UInt64s,
    counts: Int64s,
) -> None:
    """Append the values of a chunk's slots to the columns of Scan; `on` is the chunk's CPU.

    `ts`, `class_` and `cpu` have a row for each head slot; counts[ROWS] is the next free row.
    `bits` has an element for each type of EXT slot; `version` is the version of the file's format.
    """
    row, stray, aside, prints, wrong = counts[ROWS], 0, 0, 0, np.int64(0)
    claimed, kind = np.int64(0), np.int64(-1)  # of the current record
    followed, has_print = 0, 0
    for i in range(len(slots)):
        slot = slots[i]
        if slot["call_kind"] == EXT:
            followed += 1
            type_ = np.int64(slot["ipv4_type"])
            if kind < 0 or followed > claimed:
                stray += 1
            elif type_ in (EXT_IPV4, EXT_IPV6, EXT_IPV6_L4, EXT_SKB):
                has_print = 1
                bits[type_, 0] |= slot["word_0"]
                bits[type_, 1] |= slot["word_1"]
                bits[type_, 2] |= slot["word_2"]
                bits[type_, 3] |= slot["word_3"]
            elif type_ != EXT_CALL:
                aside += 1
            continue
        if kind >= 0:
            wrong += claimed != followed or claimed > MAX_EXT
            prints += has_print
        kind, claimed, followed = np.int64(slot["call_kind"]), np.int64(slot["call_ext"]), 0
        ts[row], cpu[row], class_[row], has_print = slot["call_ts"], on, OTHER, 0
        if kind in (ENTRY, EXIT) or (kind == CALL and version > 2):
            if (slot["call_flags"] & FLAG_SOCK) != 0:
                has_print = 1
                bits[0, 0] |= slot["call_skb"]
            if kind != EXIT:
                class_[row] = MINE
            if kind == CALL:
                cpu[row] = slot["span_entry_cpu"]
        elif kind == EVENT:
            if slot["event_event"] == CARRY and version > 2:
                counts[CARRIES] += 1
                class_[row] = CARRIED if np.int64(slot["event_data"]) >= 0 else FIRST_CARRIED
        elif kind == LOST:
            counts[LOSSES] += 1
        else:
            counts[UNKNOWNS] += 1
            class_[row] = UNKNOWN
        row += 1
    if kind >= 0:
        wrong += claimed != followed or claimed > MAX_EXT
        prints += has_print
    counts[ROWS] = row
    counts[STRAY] += stray
    counts[ASIDE] += aside
    counts[PRINTS] += prints
    counts[WRONG] += wrong

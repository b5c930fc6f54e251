# SPDX-License-Identifier: MIT
"""Copy footprints, which version 3 writes only once, to all records to which they apply.

Input: records in time order, with the footprints in their own slots.  A FOOTPRINT event applies to
the calls with its skb that are entered on its CPU, until the CPU has another FOOTPRINT event with
this skb.  After missing chunks or lost records, no footprint applies until it is written again.
"""

from __future__ import annotations

import numpy as np

from ...records import Progress, Scratch
from ...records import kbl_layout as kbl
from ...records.types import Int64s
from .chunk_search import Chunk
from .footprint_fill_loops import FIELDS, SMALLEST, STEP, fill_records, move_slots
from .record_column_loops import Aside, Rows
from .record_order_loops import ALL_CPUS
from .slot_blocks import begins_after_a_hole


def fill_footprints(
    rows: Rows, aside: Aside, chunks: list[Chunk], scratch: Scratch, progress: Progress
) -> None:
    """Fill the footprints of all entries and CARRY events that have none of their own.

    Changes `rows`.  A footprint is not copied beyond a gap in its CPU's records; `aside` and
    `chunks` show the gaps.  Raises Cancelled.
    """
    barriers = sorted(_gaps(rows, aside) + _holes(chunks))
    times = np.array([time for time, _ in barriers], np.int64)
    cpus = np.array([cpu for _, cpu in barriers], np.int64)
    table = np.zeros((SMALLEST, FIELDS), np.int64)
    state, eras = np.zeros(3, np.int64), np.zeros(ALL_CPUS, np.int64)
    for end in range(0, len(rows.ts) + STEP, STEP):
        while not fill_records(rows, end, times, cpus, eras, table, state):
            table = _larger(table)
        scratch.forget()
        progress.report("filling footprints", min(end, len(rows.ts)), len(rows.ts))


def _gaps(rows: Rows, aside: Aside) -> list[tuple[int, int]]:
    """Return (time, cpu) of each loss of records; earlier footprints do not apply after it."""
    full = rows.flags[aside.lost] == kbl.KblLost.BUFFER
    cpus = rows.cpu[aside.lost[full]]
    return list(zip(aside.begin[full].tolist(), cpus.tolist(), strict=True))


def _holes(chunks: list[Chunk]) -> list[tuple[int, int]]:
    """Return (time, cpu) of each missing chunk, just after the last record before it."""
    last: dict[int, int] = {}
    found = []
    for chunk, fresh in zip(chunks, begins_after_a_hole(chunks).tolist(), strict=True):
        if fresh and chunk.cpu in last:
            found.append((last[chunk.cpu] + 1, chunk.cpu))
        last[chunk.cpu] = chunk.last_ns
    return found


def _larger(table: Int64s) -> Int64s:
    made = np.zeros((2 * len(table), FIELDS), np.int64)
    move_slots(table, made)
    return made

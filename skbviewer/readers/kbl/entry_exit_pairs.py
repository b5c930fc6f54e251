# SPDX-License-Identifier: MIT
"""Join the ENTRY and EXIT records of one call into one row.

Version 2 writes all calls as pairs of ENTRY and EXIT.  Version 3 writes a call as a pair of ENTRY
and EXIT only if more calls are open than it can track.  Input: rows in any order, whose ordinals
are in file order within each CPU.  Output: each entry with its return; an exit without an entry in
the file stays as a row.

A call stays in one execution context, in which calls of one function nest properly.  So the pairs
can be found by counting the depth of nesting.  If a CPU lost records, the entry of one call and the
exit of a different call may be left over; these are not joined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...records import kbl_layout as kbl
from ...records.execution_context import execution
from ...records.time_order import time_order
from ...records.types import LATEST_NS, Bools, Int64s
from .chunk_search import Chunk
from .record_column_loops import Aside, Rows
from .slot_blocks import begins_after_a_hole

ENTRY, EXIT = kbl.KblKind.ENTRY, kbl.KblKind.EXIT


class Gaps(NamedTuple):
    """When CPUs lost records: on cpu[i], all records from begin[i] to just before end[i] (ns)."""

    cpu: Int64s
    begin: Int64s
    end: Int64s


def gaps_of(rows: Rows, aside: Aside, chunks: list[Chunk]) -> Gaps:
    """Return the gaps in the records of each CPU, from full buffers and from missing chunks.

    `rows` and `aside` are the decoded records; `chunks` are in the order of the file.
    """
    full = rows.flags[aside.lost] == kbl.KblLost.BUFFER
    found = [rows.cpu[aside.lost[full]], aside.begin[full], rows.ts[aside.lost[full]]]
    last: dict[int, int] = {}
    holes = []
    for chunk, fresh in zip(chunks, begins_after_a_hole(chunks).tolist(), strict=True):
        if fresh and chunk.cpu in last:
            holes.append((chunk.cpu, last[chunk.cpu] + 1, chunk.first_ns))
        last[chunk.cpu] = chunk.last_ns
    missing = np.array(holes, np.int64).reshape(-1, 3).T
    return Gaps(
        *(np.concatenate(both).astype(np.int64) for both in zip(found, missing, strict=True))
    )


def join_pairs(rows: Rows, gaps: Gaps) -> Bools:
    """Join entries with the returns that an older log recorded as separate records.

    Changes `rows`; an entry is not joined to an exit if one of the `gaps` is between them.  Returns
    for each record whether to keep it; the exits that were joined are not kept.
    """
    left = np.ones(len(rows.ts), np.bool_)
    if not (rows.kind == EXIT).any():
        return left
    entry, leave = _pairs(rows)
    sure = ~_across(rows, entry, leave, gaps)
    entry, leave = entry[sure], leave[sure]
    rows.exit_ts[entry] = rows.ts[leave]
    rows.exit_cpu[entry] = np.where(rows.ts[leave] >= 0, rows.cpu[leave].astype(np.int32), -1)
    returned = rows.flags[leave] & np.uint8(kbl.KBL_FLAG_SKB_IS_RET)
    rows.flags[entry] |= returned
    rows.ret[entry] = np.where(returned != 0, rows.skb[leave], rows.data[leave])
    left[leave] = False
    return left


def _pairs(rows: Rows) -> tuple[Int64s, Int64s]:
    """Return (entry, exit): the rows that belong to the same call."""
    index = np.flatnonzero((rows.kind == ENTRY) | (rows.kind == EXIT))
    index = index[np.argsort(rows.ordinal[index])]
    kind = rows.kind[index]
    open_ = (rows.flags[index] & kbl.KBL_FLAG_OPEN) != 0
    index = index[((kind == ENTRY) & ~open_ & (rows.exit_ts[index] < 0)) | (kind == EXIT)]
    index = index[np.argsort(rows.cpu[index], kind="stable")]  # at equal times by CPU, as written
    index = index[time_order(rows.ts[index])]
    is_entry = rows.kind[index] == ENTRY
    where = execution(rows.context[index], rows.pid[index], rows.cpu[index])
    order = np.lexsort((rows.func[index], where))
    index, where, is_entry = index[order], where[order], is_entry[order]
    func = rows.func[index]
    new = np.r_[True, (where[1:] != where[:-1]) | (func[1:] != func[:-1])][: len(index)]
    group = np.cumsum(new) - 1
    step = np.where(is_entry, 1, -1)
    running = np.cumsum(step)
    level = running - (running - step)[new][group] + ~is_entry
    by_level = np.lexsort((level, group))
    a, b = by_level[:-1], by_level[1:]
    match = (group[a] == group[b]) & (level[a] == level[b]) & is_entry[a] & ~is_entry[b]
    entry, leave = index[a[match]], index[b[match]]
    # An exit has the skb of its entry.  If they differ, records between them were lost.
    same = (rows.skb[entry] == rows.skb[leave]) | (
        (rows.flags[leave] & kbl.KBL_FLAG_SKB_IS_RET) != 0
    )
    return entry[same], leave[same]


def _across(rows: Rows, entry: Int64s, leave: Int64s, gaps: Gaps) -> Bools:
    """Return for each pair whether it spans a gap of its CPU.

    If the call moved to a different CPU, the gaps of all CPUs count.
    """
    across = np.zeros(len(entry), np.bool_)
    moved = rows.cpu[entry] != rows.cpu[leave]
    for cpu in np.unique(gaps.cpu).tolist():
        of_cpu = np.flatnonzero(gaps.cpu == cpu)
        of_cpu = of_cpu[np.argsort(gaps.end[of_cpu])]
        begin, end = gaps.begin[of_cpu], gaps.end[of_cpu]
        mine = np.flatnonzero(moved | (rows.cpu[entry] == cpu))
        first = np.searchsorted(end, rows.ts[entry[mine]], "right")
        begins = np.append(begin, LATEST_NS)[first]
        across[mine] |= begins < rows.ts[leave[mine]]
    return across

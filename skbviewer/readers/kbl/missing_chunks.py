# SPDX-License-Identifier: MIT
"""Gaps in the records of a CPU because the file lacks chunks, found from the chunks around them.

Input: RECORDS chunks.  Output: the gaps.  A gap cannot be found if the last chunks of a CPU, or all
of its chunks, are missing with their headers.
"""

from __future__ import annotations

from ...records import Hole
from .chunk_search import Chunk


def find_holes(whole: list[Chunk], damaged: list[Chunk]) -> tuple[Hole, ...]:
    """Return the gaps of all CPUs, by CPU and time; in `damaged` chunks, only headers are valid.

    A gap lasts from the CPU's last record before it to the CPU's first record after it.  If the CPU
    has no record before the gap, the gap begins with the file's first record.
    """
    start = min((chunk.first_ns for chunk in (*whole, *damaged)), default=0)
    found: list[Hole] = []
    for cpu in sorted({chunk.cpu for chunk in (*whole, *damaged)}):
        good, bad = ({c.seq: c for c in some if c.cpu == cpu} for some in (whole, damaged))
        found += _holes_of(cpu, good, bad, start)
    return tuple(found)


def _holes_of(cpu: int, good: dict[int, Chunk], bad: dict[int, Chunk], start: int) -> list[Hole]:
    """Return the gaps of one CPU; `good` and `bad` are its chunks by sequence number."""
    found, following, begin = [], 0, start
    for seq in sorted(good):
        if seq > following:
            lost = _lost(range(following, seq), bad)
            found.append(Hole(cpu, begin, max(begin, good[seq].first_ns), lost))
        following, begin = seq + 1, good[seq].last_ns + 1  # records up to last_ns are complete
    behind = [chunk for seq, chunk in bad.items() if seq >= following]
    if behind:
        end = max(begin, *(chunk.last_ns for chunk in behind))
        last = max(chunk.seq for chunk in behind)
        found.append(Hole(cpu, begin, end, _lost(range(following, last + 1), bad)))
    return found


def _lost(missing: range, bad: dict[int, Chunk]) -> int:
    """Return how many records the `missing` chunks had, by the headers of the `bad` ones.

    A chunk whose header is missing, too, counts as one record.
    """
    counts = [chunk.items for seq, chunk in bad.items() if seq in missing]
    return sum(counts) + len(missing) - len(counts)

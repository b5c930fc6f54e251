# SPDX-License-Identifier: MIT
"""When the file lacks records of a CPU: what the chunks around a hole tell of it.

In: RECORDS chunks.  Out: holes.  Nothing tells of a CPU's last chunks if they are missing with
their headers, nor of a CPU without any chunk.
"""

from __future__ import annotations

from ..records import Hole
from .kbl_chunks import Chunk


def find_holes(whole: list[Chunk], damaged: list[Chunk]) -> tuple[Hole, ...]:
    """Holes of all CPUs, by CPU and time; of `damaged` chunks only headers are whole.

    One lasts from the last record before it to the first one behind it.  Where there is none of
    its CPU it begins with the file's first record, and ends where the damaged chunks' headers say.
    """
    start = min((chunk.first_ns for chunk in (*whole, *damaged)), default=0)
    found: list[Hole] = []
    for cpu in sorted({chunk.cpu for chunk in (*whole, *damaged)}):
        good, bad = ({c.seq: c for c in some if c.cpu == cpu} for some in (whole, damaged))
        found += _holes_of(cpu, good, bad, start)
    return tuple(found)


def _holes_of(cpu: int, good: dict[int, Chunk], bad: dict[int, Chunk], start: int) -> list[Hole]:
    """Those of one CPU, its chunks by sequence number."""
    found, following, begin = [], 0, start
    for seq in sorted(good):
        if seq > following:
            lost = _lost(range(following, seq), bad)
            found.append(Hole(cpu, begin, max(begin, good[seq].first_ns), lost))
        following, begin = seq + 1, good[seq].last_ns + 1  # what ended before lacks nothing
    behind = [chunk for seq, chunk in bad.items() if seq >= following]
    if behind:
        end = max(begin, *(chunk.last_ns for chunk in behind))
        last = max(chunk.seq for chunk in behind)
        found.append(Hole(cpu, begin, end, _lost(range(following, last + 1), bad)))
    return found


def _lost(missing: range, bad: dict[int, Chunk]) -> int:
    """Records of these chunks, as headers tell; of a chunk that is gone at least one."""
    told = [chunk.items for seq, chunk in bad.items() if seq in missing]
    return sum(told) + len(missing) - len(told)

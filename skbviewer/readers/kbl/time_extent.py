# SPDX-License-Identifier: MIT
"""The range of time that a .kbl file covers, and its losses at unknown times.

Input: the chunks, tables and LOST records of a file.  Output: when the records of each CPU begin
and end, whether records may be missing after them, and the missed hits that no LOST record
declares.
"""

from __future__ import annotations

from ...records import Stream, Table
from ...records import kbl_layout as kbl
from .chunk_search import Chunk, Chunks
from .log_tables import Tables

POLLED = "missed_poll_ms"  # META key: this recorder writes LOST records for missed hits


def of_cpus(records: list[Chunk]) -> list[Chunk]:
    """Return the chunks of CPUs, without the recorder's own chunks.

    The recorder's chunks declare missed hits, and the tables contain these, too.
    """
    return [chunk for chunk in records if chunk.cpu != kbl.KBL_CPU_RECORDER]


def streams_of(chunks: Chunks) -> tuple[Stream, ...]:
    """Return for each CPU when its first and its last record were written."""
    found: dict[int, tuple[int, int]] = {}
    for chunk in of_cpus(chunks.of_type(kbl.KblChunkType.RECORDS)):
        begin, end = found.get(chunk.cpu, (chunk.first_ns, chunk.last_ns))
        found[chunk.cpu] = min(begin, chunk.first_ns), max(end, chunk.last_ns)
    return tuple(Stream(cpu, *found[cpu]) for cpu in sorted(found))


def is_complete(chunks: Chunks, rows: int, counters: dict[str, int]) -> bool:
    """Return whether the file has the last records of every CPU.

    Sequence numbers do not show whether the last chunks of a CPU, or all its chunks, are missing.
    So `rows`, the number of records in the file, is compared with the number in `counters` that the
    recorder has written.
    """
    kind = kbl.KblChunkType
    tables = [c.seq for c in chunks.whole if c.type != kind.RECORDS]
    if not chunks.of_type(kind.END) or sorted(tables) != list(range(len(tables))):
        return False
    return rows >= counters.get("written", 0)


def undeclared_misses(tables: Tables, marks: Table) -> dict[int, int]:
    """Return the missed hits that no LOST record declares, by probe id (-1 = unknown probe).

    The tables of the file have the numbers of all missed hits.  If the recorder writes LOST records
    for missed hits, hits that were missed before the file began do not count.
    """
    before = tables.missed_before if POLLED in tables.meta else {}
    missed = marks[marks["flags"] == int(kbl.KblLost.MISSED)]
    left = {id_: probe.missed - before.get(id_, 0) for id_, probe in tables.probes.items()}
    total = tables.counters.get("missed", 0) - before.get(-1, 0)
    left[-1] = total - sum(left.values())
    for func, count in zip(missed["func"].tolist(), missed["data"].tolist(), strict=True):
        left[func] = left.get(func, 0) - count
    return {func: count for func, count in left.items() if count > 0}

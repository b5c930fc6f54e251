# SPDX-License-Identifier: MIT
"""What stretch of time the records of a .kbl file cover, and what is missing without a time.

In: chunks, tables and LOST records.  Out: when each CPU's records begin and end, whether any can be
missing behind them, and which missed hits no LOST record declares.
"""

from __future__ import annotations

from ..records import Stream, Table
from . import _kbl_layout as kbl
from .kbl_chunks import Chunk, Chunks
from .kbl_tables import Tables

POLLED = "missed_poll_ms"  # META: this recorder writes LOST records of missed hits


def of_cpus(records: list[Chunk]) -> list[Chunk]:
    """Without what the recorder added: which missed hits it declared the tables show, too."""
    return [chunk for chunk in records if chunk.cpu != kbl.KBL_CPU_RECORDER]


def streams_of(chunks: Chunks) -> tuple[Stream, ...]:
    """When the first and the last record of each CPU were written, by CPU."""
    found: dict[int, tuple[int, int]] = {}
    for chunk in of_cpus(chunks.of_type(kbl.KblChunkType.RECORDS)):
        begin, end = found.get(chunk.cpu, (chunk.first_ns, chunk.last_ns))
        found[chunk.cpu] = min(begin, chunk.first_ns), max(end, chunk.last_ns)
    return tuple(Stream(cpu, *found[cpu]) for cpu in sorted(found))


def is_complete(chunks: Chunks, rows: int, counters: dict[str, int]) -> bool:
    """Whether no record can be missing behind a CPU's last one, nor of a CPU without any.

    The sequence numbers of chunks do not show that.  But the recorder counted what it wrote, and
    the `rows` records of the file are no fewer.
    """
    kind = kbl.KblChunkType
    tables = [c.seq for c in chunks.whole if c.type != kind.RECORDS]
    if not chunks.of_type(kind.END) or sorted(tables) != list(range(len(tables))):
        return False
    return rows >= counters.get("written", 0)


def unmarked(tables: Tables, marks: Table) -> dict[int, int]:
    """Hits that probes missed by the tables, but not by LOST records: by probe id, -1 unknown.

    A recorder that does not write such LOST records counts all from its own beginning.
    """
    before = tables.missed_before if POLLED in tables.meta else {}
    told = marks[marks["flags"] == int(kbl.KblLost.MISSED)]
    left = {id_: probe.missed - before.get(id_, 0) for id_, probe in tables.probes.items()}
    total = tables.counters.get("missed", 0) - before.get(-1, 0)
    left[-1] = total - sum(left.values())
    for func, count in zip(told["func"].tolist(), told["data"].tolist(), strict=True):
        left[func] = left.get(func, 0) - count
    return {func: count for func, count in left.items() if count > 0}

# SPDX-License-Identifier: MIT
"""Rewrites a recorded log as if its probes had missed some hits.

A hit that a probe misses leaves no call, no event of the skb's lifetime that follows from the call,
and no footprint.  The recorder writes the footprint with the next hit of that skb on that CPU.  All
other records stay.  The PROBES and COUNTERS tables count the hits; with `dated`, KBL_LOST_MISSED
records also say within which tenth of a second each function missed them, as kblrecord writes them.
Little-endian logs of version 3 only; kmod/kbl.h has the layout.
"""

from __future__ import annotations

import random
import struct
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from .older_log import (
    CALL,
    COUNTERS,
    EVENT,
    EVENT_SLOT,
    FOOTPRINT,
    LONG,
    LOST,
    LOST_MISSED,
    PAD,
    PROBE,
    PROBES,
    RECORDER,
    SPAN_SLOT,
    Placed,
    Record,
    chunk,
    probe_rows,
    records_of,
    streams_of,
)
from .treatments import CHUNK, RECORDS, chunks_of

POLL_NS = 100_000_000  # kblrecord reads the probes' counts as often
BURST_HITS = 40  # on average: about those of one packet
# Births, ends and merges, as far as a call and no tracepoint shows them; packets of a list.
OF_CALLS = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 15, 35, 36}
LOST_SLOT = struct.Struct("<BBBBIQQQ")

Call = tuple[int, int, int, int, int]  # function, CPU, times of entry and exit, skb


class Parsed(NamedTuple):
    """A log, all its records, and what its CALL records contain, by the record's number."""

    data: bytes
    records: list[Record]
    calls: dict[int, Call]


@lru_cache(maxsize=1)  # each seed changes the same log
def _parsed(log: Path) -> Parsed:
    data = log.read_bytes()
    records = list(records_of(data))
    calls = {number: _call(one) for number, one in enumerate(records) if one.kind == CALL}
    return Parsed(data, records, calls)


def without_hits(log: Path, out: Path, share: float, seed: int, dated: bool) -> int:
    """Write the log as if this share of the hits had been missed; returns how many are missing.

    Half of them are single hits, half follow each other on one CPU, as in an interrupt that arrives
    inside a probe.  Raises ValueError if it is no whole little-endian log.
    """
    parsed = _parsed(log)
    data, records, calls = parsed
    missed = _chosen(calls, share, random.Random(seed))
    streams = _streams(parsed, missed)
    hits = Counter(calls[n][0] for n in missed)
    if dated:
        for n, slots in enumerate(_declared(calls, missed)):
            ts = int.from_bytes(slots[8:16], "little")
            streams[RECORDER].append((ts, 2, len(records) + n, slots))
    written = sum(map(len, streams.values())) - len(records)
    first, chunks = chunks_of(data)
    last = {kind: begin for begin, _, kind in chunks}
    parts, seq, placed = [data[:first]], 0, False
    for begin, end, kind in chunks:
        if kind == RECORDS and not placed:
            parts += streams_of(streams)
            placed = True
        if kind in (RECORDS, PAD):
            continue
        head = CHUNK.unpack_from(data, begin)
        body = data[begin + CHUNK.size : end]
        if begin == last[kind]:  # the tables before it are of the start
            body = _table(kind, data, (begin, end), hits, written)
        parts.append(chunk(kind, head[2], seq, head[4:6], head[6], body))
        seq += 1
    out.write_bytes(b"".join(parts))
    return len(missed)


def _call(record: Record) -> Call:
    *_, func, cpu, ts, skb, _, dur = SPAN_SLOT.unpack(record.head)
    longer = (int.from_bytes(e[8:16], "little") for e in record.ext if e[1] == 5)
    return func, cpu, ts, ts + (next(longer) if dur == LONG else dur), skb


def _chosen(calls: dict[int, Call], share: float, source: random.Random) -> set[int]:
    """Return the numbers of the calls that are missing."""
    by_cpu: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, (_, cpu, ts, _, _) in calls.items():
        by_cpu[cpu].append((ts, number))
    chosen: set[int] = set()
    for hits in by_cpu.values():
        hits.sort()
        chosen.update(n for _, n in hits if source.random() < share / 2)
        at = 0
        while at < len(hits):
            at += int(source.expovariate(share / 2 / BURST_HITS))
            burst = 1 + int(source.expovariate(1 / BURST_HITS))
            chosen.update(n for _, n in hits[at : at + burst])
            at += burst
    return chosen


def _streams(parsed: Parsed, missed: set[int]) -> defaultdict[int, list[Placed]]:
    """Return the records of each CPU that are left, with footprints at the next hit."""
    _, records, calls = parsed
    gone, spans = set[tuple[int, int]](), set[tuple[int, int]]()
    for number in missed:
        _, cpu, ts, end, _ = calls[number]
        gone |= {(cpu, ts), (records[number].cpu, end)}
        spans.add((cpu, ts))
    streams: defaultdict[int, list[Placed]] = defaultdict(list)
    footprints: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    kept: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for number, record in enumerate(records):
        event = record.head[1] if record.kind == EVENT else 0
        if event == FOOTPRINT and (record.cpu, record.ts) in spans:
            footprints[record.cpu, EVENT_SLOT.unpack(record.head)[6]].append((record.ts, number))
        elif number not in missed and not (event in OF_CALLS and (record.cpu, record.ts) in gone):
            when = record.ts
            if record.kind == CALL:
                _, cpu, ts, when, skb = calls[number]
                kept[cpu, skb].append(ts)
            slots = record.head + b"".join(record.ext)
            streams[record.cpu].append((when, int(event != FOOTPRINT), number, slots))
            if event == FOOTPRINT:
                kept[record.cpu, EVENT_SLOT.unpack(record.head)[6]].append(-record.ts)
    for (cpu, skb), waiting in footprints.items():
        for ts, number in _written_later(waiting, kept[cpu, skb]):
            head, ext = records[number].head, records[number].ext
            slots = head[:8] + struct.pack("<Q", ts) + head[16:] + b"".join(ext)
            streams[cpu].append((ts, 0, number, slots))
    return streams


def _written_later(waiting: list[tuple[int, int]], kept: list[int]) -> Iterator[tuple[int, int]]:
    """Yield (ts, number) of each footprint that a later hit writes.

    `kept` has the entries of the skb's calls on the CPU, and, negative, its other footprints.
    """
    events = [(abs(ts), ts > 0, -1) for ts in kept] + [(ts, True, n) for ts, n in waiting]
    last = -1
    for ts, is_hit, number in sorted(events):
        if number >= 0:
            last = number
        elif not is_hit:
            last = -1  # a footprint that was written
        elif last >= 0:
            yield ts, last
            last = -1


def _declared(calls: dict[int, Call], missed: set[int]) -> Iterator[bytes]:
    """Yield the KBL_LOST_MISSED records: of each function, the count between two polls."""
    found: Counter[tuple[int, int]] = Counter()
    for number in missed:
        func, _, ts, _, _ = calls[number]
        found[ts // POLL_NS, func] += 1
    for (poll, func), count in sorted(found.items()):
        first = poll * POLL_NS
        yield LOST_SLOT.pack(LOST, LOST_MISSED, 0, 0, func, first + POLL_NS, first, count)


def _table(
    kind: int, data: bytes, span: tuple[int, int], hits: Counter[int], written: int
) -> bytes:
    """Return a table with the hits counted, and `written` more records."""
    body = data[span[0] + CHUNK.size : span[1]]
    if kind == PROBES:
        rows = probe_rows(data, *span)
        made = b"".join(PROBE.pack(*row[:11], row[11] + hits[row[1]]) + rest for row, rest in rows)
        return made + body[len(made) :]
    if kind == COUNTERS:
        count, lost, missed = struct.unpack_from("<3Q", body, 8)
        missed += sum(hits.values())
        return body[:8] + struct.pack("<3Q", max(count + written, 0), lost, missed) + body[32:]
    return body

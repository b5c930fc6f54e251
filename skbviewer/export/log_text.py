# SPDX-License-Identifier: MIT
"""Write a KBL's records as text lines, in the style of tcpdump.

Input: a KBL as the reader returns it. Output: one line per record, and a second line for a call
that returned. A line contains the time (s, on the KBL's clock), CPU, context, task, direction and
packet. After a drop come the functions of its stack, one per line. A gap in the file is written as
lost records, at the time at which the gap ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..analysis import EventFacts, Names, address, event_text, names_in
from ..readers import KblEvent, KblLost
from ..records import HOLE, SEEN, Hole, KernelLog, Table, counted
from ..records.kernel_events import SEEN_AT
from ..records.types import Int64s

KINDS = {1: "->", 2: "<-", 4: "**", 5: "!!", SEEN: "**"}
CONTEXTS = "TSHN"  # task, softirq, hardirq, NMI
ENTRY, EXIT, EVENT, LOST = 1, 2, 4, 5  # kbl.h enum kbl_kind
OPEN, SKB_IS_RET, SOCK = 0x08, 0x10, 0x80  # kbl.h KBL_FLAG_*
LOSSES = {
    KblLost.BUFFER: "buffers were full",
    KblLost.MISSED: "missed hits",
    KblLost.NESTED: "nested hits",
    HOLE: "missing or damaged in the file",
}
MASK64, MAX_ERRNO = (1 << 64) - 1, -4095  # linux/err.h: below it is a pointer
WITH_STACKS = (KblEvent.DROP, KblEvent.LOCK_WAIT)
Row = SimpleNamespace  # one row of any table; attributes are the columns


class _Beside(NamedTuple):
    """Data of a log that is not in the columns of its records, by the ordinal of the record."""

    hooks: dict[int, int]
    changes: dict[int, Row]
    syscalls: dict[int, Row]
    stacks: Table
    words: dict[int, str]


def dump_lines(log: KernelLog, batch: int = 4096) -> Iterator[str]:
    """Yield the lines of `log` in order of time; `batch` records are formatted at a time."""
    names, details = names_in(log), log.details
    hooks = {row.ordinal: row.hook for row in _rows(details.drops)}
    changes = {row.ordinal: row for row in _rows(details.changes)}
    syscalls = {row.ordinal: row for row in _rows(details.syscalls)}
    record, returns = _in_time(log)
    words = dict(details.names) | _interrupt_names(log)
    beside = _Beside(hooks, changes, syscalls, details.frames, words)
    holes = sorted((_lost(hole) for hole in log.holes), key=lambda row: row.ts, reverse=True)
    for begin in range(0, len(record), batch):
        part = slice(begin, begin + batch)
        for row, returned in zip(_rows(log.records[record[part]]), returns[part], strict=True):
            shown = _return(row) if returned else row
            while holes and holes[-1].ts <= shown.ts:
                yield _line(log, names, beside, holes.pop())
            yield _line(log, names, beside, shown)
            if row.kind == EVENT and row.event in WITH_STACKS:
                yield from _stack(names, beside.stacks, row.ordinal)
    yield from (_line(log, names, beside, hole) for hole in reversed(holes))


def _in_time(log: KernelLog) -> tuple[Int64s, npt.NDArray[np.bool_]]:
    """Return the record of each line in order of time, and whether the line shows a return."""
    kind, ends = log.records["kind"], log.records["exit_ts"]
    calls = np.flatnonzero(ends >= 0)
    record = np.concatenate([np.arange(len(kind)), calls])
    returns = np.arange(len(record)) >= len(kind)
    ts = np.concatenate([log.records["ts"], ends[calls]])
    rank = np.where(returns | (kind[record] == EXIT), 1, np.where(kind[record] == ENTRY, 0, 2))
    order = np.lexsort((rank, ts))
    return record[order], returns[order]


def _interrupt_names(log: KernelLog) -> dict[int, str]:
    """Map the ordinal of each interrupt event to the interrupt's name.

    A log records a name only once, and again if the name changes.
    """
    event = log.records["event"]
    chosen = np.isin(event, (KblEvent.IRQ_ENTRY, KblEvent.IRQ_EXIT))
    rows = log.records[chosen & (log.records["kind"] == EVENT)]
    named, names, last = log.details.names, dict[int, str](), dict[int, str]()
    for ordinal, data in rows[["ordinal", "data"]][np.argsort(rows["ts"], kind="stable")].tolist():
        number = data & 0xFFFFFFFF
        last[number] = named.get(ordinal) or last.get(number, "")
        names[ordinal] = last[number]
    return names


def _return(call: Row) -> Row:
    """Make the row for the return of a call.

    The log does not say which packet the skb has at the exit.
    """
    skb = call.ret if call.flags & SKB_IS_RET else call.skb
    columns = {"kind": EXIT, "ts": call.exit_ts, "cpu": call.exit_cpu, "skb": skb, "data": call.ret}
    return Row(**(vars(call) | columns | {"ip_version": 0, "ethertype": -1}))


def _lost(hole: Hole) -> Row:
    """Make a row LOST for a gap in the file. It has no context."""
    columns = {"kind": LOST, "ts": hole.end, "dur": hole.end - hole.begin, "cpu": hole.cpu}
    columns |= {"data": hole.lost, "flags": HOLE, "context": len(CONTEXTS), "pid": -1, "skb": 0}
    return Row(**columns, func=-1, ip_version=0, ethertype=-1, saddr_hi=0, saddr_lo=0)


def _rows(table: Table) -> Iterator[Row]:
    names = table.dtype.names or ()
    for values in table.tolist():
        yield Row(**dict(zip(names, values, strict=True)))


def _stack(names: Names, frames: Table, ordinal: int) -> Iterator[str]:
    low, high = np.searchsorted(frames["ordinal"], [ordinal, ordinal + 1])
    for address_ in frames["address"][low:high].tolist():
        yield f"{'':20} by {names.symbol(address_)}"


def _line(log: KernelLog, names: Names, beside: _Beside, row: Row) -> str:
    seconds, rest = divmod(row.ts, 10**9)
    context = CONTEXTS[row.context] if row.context < len(CONTEXTS) else "?"
    task = f"{names.task(row.pid, row.cpu) or '?'}/{row.pid}" if row.pid >= 0 else "-"
    skb = f"{row.skb & MASK64:016x}" if row.skb else "-"
    cpu = "-" if row.kind == LOST and row.flags == KblLost.MISSED else row.cpu
    head = f"{seconds}.{rest:09d} [{cpu}{context}] {task:<20} {skb:<16}"
    return f"{head} {KINDS.get(row.kind, '??')} {_what(log, names, beside, row)}{_identity(row)}"


def _what(log: KernelLog, names: Names, beside: _Beside, row: Row) -> str:
    probe = log.probes.get(row.func)
    name = probe.name if probe else f"probe {row.func}"
    if row.kind == LOST:
        where = f" of {name}" if row.func >= 0 else ""
        why = LOSSES.get(row.flags, f"reason {row.flags}")
        least = "at least " if row.flags == HOLE else ""
        return f"{least}{counted(row.data, 'record')} lost in {row.dur} ns: {why}{where}"
    if row.kind in (EVENT, SEEN):
        return event_text(_event_facts(log, beside, row), names)
    if row.kind == EXIT:
        returned = row.data if row.data >= MAX_ERRNO else f"0x{row.data & MASK64:x}"
        return f"{name} = {returned}{f', {row.counter} counted' if row.counter >= 0 else ''}"
    return f"{name} from {names.symbols.get(row.caller, '?')}{_entry_notes(row)}"


def _entry_notes(row: Row) -> str:
    notes = [f"sock {row.sk & MASK64:016x}"] if row.flags & SOCK else []
    if row.data >= 0:
        notes.append(f"packet {(row.data & 0xFFFFFFFF) + 1} of the call")
    if row.data >> 32 > 0:
        notes.append(f"{row.data >> 32} more not recorded")
    if row.flags & OPEN:
        notes.append("open at stop")
    return f" ({', '.join(notes)})" if notes else ""


def _event_facts(log: KernelLog, beside: _Beside, row: Row) -> EventFacts:
    ordinal = row.ordinal
    return EventFacts(
        SEEN_AT.number if row.kind == SEEN and not row.event else row.event,
        row.data,
        beside.hooks.get(ordinal, -1),
        beside.changes.get(ordinal),
        beside.syscalls.get(ordinal),
        beside.words.get(ordinal, ""),
    )


def _identity(row: Row) -> str:
    saddr = address(row.ip_version, row.saddr_hi, row.saddr_lo)
    if saddr is None:
        return f" ethertype {row.ethertype:#06x}" if row.ethertype > 0 else ""
    daddr = address(row.ip_version, row.daddr_hi, row.daddr_lo)
    return f" {saddr} > {daddr} id {row.ip_id} proto {row.protocol} len {row.tot_len}"

# SPDX-License-Identifier: MIT
"""A KBL's records as text lines, in tcpdump's manner.

In: a KBL as read.  Out: one line a record: time (s, KBL clock), CPU, context, task, what, packet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..analysis import address
from ..records import KernelLog

KINDS = {1: "->", 2: "<-", 3: "--", 4: "**", 5: "!!"}
CONTEXTS = "TSHN"  # task, softirq, hardirq, NMI
ENTRY, EXIT, CALL, EVENT, LOST = range(1, 6)
EVENTS = ["-", "alloc", "clone", "copy", "segment", "free", "consume", "drop", "task"]
MASK64 = (1 << 64) - 1


def dump_lines(log: KernelLog, batch: int = 4096) -> Iterator[str]:
    """The lines of `log`, in time order."""
    for begin in range(0, len(log.records), batch):
        part = log.records[begin : begin + batch]
        names = part.dtype.names or ()
        for values in part.tolist():
            yield _line(log, dict(zip(names, values, strict=True)))


def _line(log: KernelLog, row: dict[str, Any]) -> str:
    seconds, rest = divmod(row["ts"], 10**9)
    context = CONTEXTS[row["context"]] if row["context"] < len(CONTEXTS) else "?"
    task = f"{log.tasks.get(row['pid'], '?')}/{row['pid']}" if row["pid"] >= 0 else "-"
    skb = f"{row['skb'] & MASK64:016x}" if row["skb"] else "-"
    head = f"{seconds}.{rest:09d} [{row['cpu']}{context}] {task:<20} {skb:<16}"
    return f"{head} {KINDS.get(row['kind'], '??')} {_what(log, row)}{_identity(row)}"


def _what(log: KernelLog, row: dict[str, Any]) -> str:
    if row["kind"] == LOST:
        return f"{row['data']} records lost in {row['dur']} ns"
    if row["kind"] == EVENT:
        event = row["event"]
        name = EVENTS[event] if event < len(EVENTS) else f"event {event}"
        return f"{name} {row['data'] & MASK64:#x}"
    probe = log.probes.get(row["func"])
    name = probe.name if probe else f"probe {row['func']}"
    if row["kind"] == EXIT:
        return f"{name} = {row['data']}"
    return f"{name} from {log.symbols.get(row['caller'], '?')}"


def _identity(row: dict[str, Any]) -> str:
    saddr = address(row["ip_version"], row["saddr_hi"], row["saddr_lo"])
    if saddr is None:
        return f" ethertype {row['ethertype']:#06x}" if row["ethertype"] > 0 else ""
    daddr = address(row["ip_version"], row["daddr_hi"], row["daddr_lo"])
    return f" {saddr} > {daddr} id {row['ip_id']} proto {row['protocol']} len {row['tot_len']}"

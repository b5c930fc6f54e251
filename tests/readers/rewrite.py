# SPDX-License-Identifier: MIT
"""Rewrites a log of version 2 as the recorder writes version 3, from its rules alone.

One CALL when a function returns, a TASK before the first record of another thread, a FOOTPRINT at
the entry that sees a change.  An entry or exit without its other half stays a slot of its own.
"""

from __future__ import annotations

from typing import Any

from skbviewer.records import kbl_layout as kbl

from .build_kbl import STEXT, KblBuilder, Slot

Kind, Event = kbl.KblKind, kbl.KblEvent
Head = dict[str, Any]


def version3(old: KblBuilder) -> KblBuilder:
    """Return a builder with the same tables and, in version 3's form, the same records."""
    new = KblBuilder(3, old.per_chunk)
    tables = ("probes", "symbols", "clocks", "devices", "counters", "calibration", "meta")
    for name in ("header", *tables, "end"):
        setattr(new, name, getattr(old, name))
    new._strings, new._offsets = old._strings, old._offsets
    writer = _Writer(new)
    records = [(cpu, record) for cpu, stream in old.records.items() for record in stream]
    records.sort(key=lambda item: int(item[1][0][1]["ts"]))
    exits = _exits([(cpu, record[0][1]) for cpu, record in records])
    for number, (cpu, record) in enumerate(records):
        writer.write(cpu, record, exits.get(number), number in exits.values(), number)
    return new


def _exits(heads: list[tuple[int, Head]]) -> dict[int, int]:
    """Number of the exit by number of its entry: the innermost open call of its context."""
    open_: dict[tuple[Any, ...], list[int]] = {}
    found: dict[int, int] = {}
    for number, (cpu, head) in enumerate(heads):
        if head["kind"] not in (Kind.ENTRY, Kind.EXIT):
            continue
        task = head["context"] == 0 and head["pid"] > 0
        key = (head["context"], head["pid"] if task else -cpu - 1, head["func"])
        calls = open_.setdefault(key, [])
        if head["kind"] == Kind.ENTRY:
            calls.append(number)
        elif calls:
            entry = calls.pop()
            returned = head["flags"] & kbl.KBL_FLAG_SKB_IS_RET
            if returned or heads[entry][1]["skb"] == head["skb"]:
                found[entry] = number
    return found


class _Writer:
    """The state that the module keeps of each CPU."""

    def __init__(self, kbl_: KblBuilder) -> None:
        self._kbl = kbl_
        self._thread: dict[int, int] = {}
        self._shown: dict[tuple[int, int], list[Slot]] = {}
        self._entries: dict[int, tuple[int, Head]] = {}  # by number of the exit

    def write(
        self, cpu: int, record: list[Slot], leave: int | None, is_exit: bool, number: int
    ) -> None:
        (dtype, head), *slots = record
        if head["kind"] == Kind.ENTRY:
            head = self._footprint(cpu, dict(head), slots)
            if leave is not None:
                self._entries[leave] = (cpu, head)
                return
            slots = []
        elif head["kind"] == Kind.EXIT and is_exit:
            self._call(cpu, head, *self._entries[number])
            return
        elif head["kind"] == Kind.EVENT and head["event"] == Event.TASK:
            self._thread[cpu] = head["pid"]
        self._kbl._add(cpu, dtype, head, slots)

    def _footprint(self, cpu: int, head: Head, slots: list[Slot]) -> Head:
        skb = head["skb"]
        if skb and slots and self._shown.get((cpu, skb)) != slots:
            event = {"kind": Kind.EVENT, "event": Event.FOOTPRINT, "ts": head["ts"], "skb": skb}
            event |= {"pid": head["pid"], "context": head["context"], "data": 0}
            self._kbl._add(cpu, kbl.KBL_EVENT_SLOT, event, slots)
            self._shown[cpu, skb] = slots
        elif skb and not slots:
            head["flags"] |= kbl.KBL_FLAG_EXT_LOST  # it had none: none may be filled in
        return head

    def _call(self, cpu: int, leave: Head, entry_cpu: int, entry: Head) -> None:
        if self._thread.get(cpu) != entry["pid"]:
            self._kbl.task(leave["ts"], cpu, entry["pid"], entry["pid"])
            self._thread[cpu] = entry["pid"]
        returned = leave["flags"] & kbl.KBL_FLAG_SKB_IS_RET
        unknown = entry["flags"] & kbl.KBL_FLAG_NO_CALLER
        self._kbl.call(
            entry["ts"],
            cpu,
            entry["func"],
            entry["skb"],
            leave["ts"] - entry["ts"],
            leave["skb"] - (1 << 64 if leave["skb"] >> 63 else 0) if returned else leave["caller"],
            0 if unknown else entry["caller"] + STEXT,
            entry["context"],
            entry["flags"] | leave["flags"],
            entry_cpu,
        )

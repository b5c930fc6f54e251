# SPDX-License-Identifier: MIT
"""Write the log that retis would have made beside a recording with a kernel log and a capture.

Input: a .kbl, its .pcap, and which packet has which records (the kernel log's own exact matches).
Output: a log of retis whose points are the kernel log's calls, with the bytes of the capture, so
the packet of each lifetime is known.  The kernel log is read by tests/reference, the capture by
dpkt.
"""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import dpkt

from tests.reference import slots
from tests.reference.layout import EVENT

TRACEPOINTS = {
    "__netif_receive_skb_core.constprop.0": "net:netif_receive_skb",
    "dev_hard_start_xmit": "net:net_dev_start_xmit",
}
HEADS = 0xFFFF_9000_0000_0000  # of skbs' data: addresses that need 64 bits
MASK64 = (1 << 64) - 1


class Lifetime(NamedTuple):
    """An exact match of a kernel log: the packet (from 1), and the records of its lifetime.

    `series` is its number in the session; `ordinals` are those of calls and drops in the file.
    """

    packet: int
    series: int
    ordinals: frozenset[int]


def exact_lifetimes(session: Path) -> list[Lifetime]:
    """Return the exact matches of a session with one kernel log."""
    with closing(sqlite3.connect(session)) as db:
        matched = db.execute(
            "SELECT DISTINCT match.packet, leg.series FROM match JOIN leg ON leg.id = match.leg"
            " WHERE match.verdict = 0 ORDER BY match.packet"
        ).fetchall()
        rows = [db.execute(RECORDS, (series, series)).fetchall() for _, series in matched]
    return [
        Lifetime(packet, series, frozenset(row for (row,) in found))
        for (packet, series), found in zip(matched, rows, strict=True)
    ]


RECORDS = """SELECT call.ordinal FROM call JOIN leg ON leg.id = call.leg WHERE leg.series = ?
    UNION SELECT event.ordinal FROM event JOIN leg ON leg.id = event.leg WHERE leg.series = ?"""


def head_of(lifetime: Lifetime) -> int:
    """Return the address by which retis tracks a lifetime."""
    return HEADS + 2048 * lifetime.series


def events(
    kbl: Path,
    pcap: Path,
    lifetimes: Iterable[Lifetime],
    *,
    version: str = "v1.6.0",
    later_ns: int = 0,
    with_bytes: bool = True,
) -> list[dict[str, Any]]:
    """Return all events in order of time.

    `later_ns` is how far retis' clock is ahead of the log's.
    """
    log = slots.read(kbl)
    with pcap.open("rb") as file:
        frames = [data for _, data in dpkt.pcap.Reader(file)]
    began = min(call.entry for call in log.calls)
    ahead = log.wall_ns
    startup = {
        "retis_version": version,
        "clock_monotonic_offset": {"sec": ahead // 10**9, "nsec": ahead % 10**9},
    }
    made = []
    for lifetime in lifetimes:
        data = frames[lifetime.packet - 1] if with_bytes else b""
        records = _records(log, lifetime)
        first_ns = min((_time(one) for one in records), default=0) + later_ns
        tracked = {"orig_head": head_of(lifetime), "timestamp": first_ns}
        made += [_event(log, one, tracked, data, later_ns) for one in records]
    made.sort(key=lambda event: event["common"]["timestamp"])
    first = {"common": {"timestamp": began + later_ns}, "startup": startup}
    return [first, *made]


def _records(log: slots.Log, lifetime: Lifetime) -> list[slots.Call | slots.Event]:
    """Return the lifetime's calls that have its skb as argument, and its drops."""
    calls = [one for one in log.calls if one.ordinal in lifetime.ordinals and one.skb]
    drops = [
        one for one in log.events if one.ordinal in lifetime.ordinals and one.event == EVENT.DROP
    ]
    return [*calls, *drops]


def _time(record: slots.Call | slots.Event) -> int:
    return record.entry if isinstance(record, slots.Call) else record.ts


def _event(
    log: slots.Log,
    record: slots.Call | slots.Event,
    tracked: dict[str, int],
    data: bytes,
    later_ns: int,
) -> dict[str, Any]:
    name = log.functions[record.func] if isinstance(record, slots.Call) else "skb:kfree_skb"
    symbol = TRACEPOINTS.get(name, name)
    kind = "raw_tracepoint" if ":" in symbol else "kprobe"
    common: dict[str, Any] = {"timestamp": _time(record) + later_ns, "smp_id": record.cpu}
    if record.pid >= 0:
        comm = log.comm(record.pid, record.cpu)
        common["task"] = {"pid": record.pid, "tgid": record.pid, "comm": comm}
    made: dict[str, Any] = {
        "common": common,
        "kernel": {"symbol": symbol, "probe_type": kind},
        "skb-tracking": tracked | {"skb": record.skb & MASK64},
    }
    if isinstance(record, slots.Event):
        reason = log.meta.get(f"drop_reason.{record.data & 0xFFFFFFFF}", "NOT_SPECIFIED")
        made["skb-drop"] = {"drop_reason": reason}
    if data:
        text = base64.b64encode(data).decode()
        made["packet"] = {"len": len(data), "capture_len": len(data), "data": text}
    shown = record.footprint
    if shown.netns >= 0:
        made["netns"] = {"inum": shown.netns}
    if shown.ifindex > 0:
        device = log.device(shown.netns, shown.ifindex)
        made["dev"] = {"name": device, "ifindex": shown.ifindex}
    return made


def write(path: Path, made: Iterable[dict[str, Any]], is_sorted: bool = False) -> Path:
    """Write events as `retis collect` does; `is_sorted`: as `retis sort`, a lifetime a line."""
    first, *rest = made
    lines: dict[object, list[dict[str, Any]]] = {}
    for number, event in enumerate(rest):
        key = event["skb-tracking"]["orig_head"] if is_sorted else number
        lines.setdefault(key, []).append(event)
    every: list[list[dict[str, Any]]] = [[first], *lines.values()]
    rows = [line if is_sorted else line[0] for line in every]
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    return path

# SPDX-License-Identifier: MIT
"""A kernel log whose calls counted events of the hardware counter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skbviewer.records import kbl_layout as kbl
from tests.matching.story import HOST, HOUR, udp4
from tests.readers.build_kbl import KblBuilder, Slot, ext

A, B = 0xFFFF888000001000, 0xFFFF888000002000
LIST, CORE = "ip_list_rcv", "ip_rcv_core"


def count(events: int) -> tuple[Slot, ...]:
    """The slot with a call's events; -1: it migrated."""
    valid = int(events >= 0)
    fields = {"valid": valid, "event": 0, "count": max(events, 0)}
    return (ext(kbl.KBL_EXT_COUNTER, kbl.KblExtType.COUNTER, **fields),)


def counted_log(
    path: Path,
    first: int,
    second: int,
    counter: str = "cycles",
    costs: Mapping[str, int] | None = None,
) -> Path:
    """Two packets received as one list, in 1000 events; ip_rcv_core sees each by itself.

    `costs` are events of the probes, by their names in struct kbl_calibration.
    """
    build = KblBuilder(3)
    receive, core = build.probe(LIST), build.probe(CORE)
    free = build.probe("kfree_skbmem", kbl.KblEvent.FREE)
    build.meta["counter"] = counter
    build.meta |= {f"calibration.{name}": str(n) for name, n in (costs or {}).items()}
    build.task(900, 0, 1, 7, "ksoftirqd/0")
    for number, skb in enumerate((A, B), start=1):
        build.event(950, 0, kbl.KblEvent.ALLOC, skb, 256, context=1)
        build.footprint(1000, 0, skb, ipv4=udp4(number), skbinfo=HOST, context=1)
    build.carry(1000, 0, B, 1)
    for ts in (0, HOUR):  # the log begins before the packets, and ends after them
        build.call(ts, 0, build.probe("net_rx_action"), 0, 1, context=1)
    build.call(1100, 0, core, A, 50, context=1, extra=count(first))
    build.call(1200, 0, core, B, 70, context=1, extra=count(second))
    build.call(1000, 0, receive, A, 900, context=1, extra=count(1000))
    for ts, skb in ((2000, A), (2100, B)):
        build.event(ts, 0, kbl.KblEvent.FREE, skb, context=1)
        build.call(ts, 0, free, skb, 10, context=1)
    build.write(path)
    return path

# SPDX-License-Identifier: MIT
"""Packets of stories for the rules, and what a diagnosis says about them.

Times are microseconds of the log's clock.  No packet has a capture, so they are rows K1, K2, ...
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skbviewer.analysis.diagnosis import Diagnosis, Finding
from skbviewer.records.kbl_layout import KblEvent
from skbviewer.session import Session, import_files
from tests.matching.story import HOST, SOFTIRQ, Story, udp4

SKB, SOCK = 0xFFFF888000010000, 0xFFFF888000003000
READER = 7  # thread
US = 1000
MINE = HOST._replace(sk=SOCK)
# Rules that say that packets are slow, or what the recording is like; not why packets are slow.
GENERAL = {"slow-packets", "unexplained", "probe-cost", "lost-records"}


def skb(number: int) -> int:
    """Return the address of a packet's skb."""
    return SKB + number * 0x1000


def received(
    story: Story, number: int, at: int, wait: int = 1, core: int = 20, **later: Any
) -> int:
    """Receive a packet: it waits `wait` us for the softirq, whose work takes `core` us.

    `later` goes with the calls of the softirq.  Returns when the stack is done, us.
    """
    mine, where = skb(number), {"context": SOFTIRQ, "pid": 0}
    story.alloc(at * US - 20, mine, **where)
    story.call(
        "netif_rx_internal", at * US, (at + 1) * US, mine, ipv4=udp4(number), skbinfo=HOST, **where
    )
    begin = (at + 1 + wait) * US
    end = begin + core * US
    where |= later
    story.call("__netif_receive_skb_one_core", begin, end, mine, **where)
    story.call("ip_rcv", begin + 100, end - 100, mine, **where)
    return end // US


def delivered(story: Story, number: int, at: int, wait: int = 1, core: int = 20) -> int:
    """Receive a packet into a socket's queue; returns when it is there, us."""
    end = received(story, number, at, wait, core)
    story.event(end * US - 50, KblEvent.SOCK_ENQUEUE, skb(number), SOCK, context=SOFTIRQ, pid=0)
    return end


def read(story: Story, number: int, at: int) -> None:
    """Let the reader read a packet and free it."""
    story.call("skb_consume_udp", at * US, at * US + 500, skb(number), pid=READER)
    story.free(at * US + 600, skb(number), pid=READER)


def freed(story: Story, number: int, at: int) -> None:
    """Free a packet in the softirq."""
    story.free(at * US, skb(number), context=SOFTIRQ, pid=0)


def many(story: Story, count: int = 12, first: int = 100, at: int = 0) -> None:
    """Receive packets that are not slow, 100 us apart, to compare others with."""
    for n in range(count):
        freed(story, first + n, received(story, first + n, at + 100 * (n + 1)) + 1)


def diagnosed(story: Story, folder: Path, *captures: str, packet: int | None = None) -> Diagnosis:
    """Import a story, and captures in the folder, and diagnose all packets or one."""
    story.log(folder)
    out = folder / "story.skbv"
    import_files([folder / name for name in ("story.kbl", *captures)], out)
    session = Session.open(out)
    try:
        return session.stats.diagnosis(ids=None if packet is None else np.array([packet]))
    finally:
        session.close()


def causes(made: Diagnosis) -> set[str]:
    """Return the rules with findings that say why packets are slow or lost."""
    return {one.rule for one in made.findings} - GENERAL


def only(made: Diagnosis, rule: str) -> Finding:
    """Return the finding of a rule, which must have exactly one."""
    (found,) = [one for one in made.findings if one.rule == rule]
    return found


def not_judged(made: Diagnosis) -> set[str]:
    """Return the rules that could not be judged."""
    return {one.rule for one in made.judged if not one.judged}

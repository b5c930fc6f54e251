# SPDX-License-Identifier: MIT
"""A session of two hosts' logs and captures, made without a machine: every time is known.

Times are ns of the host "left".  The clock of "right" is BEHIND it, so by raw times it gets packets
before they are sent; its sniffer is AHEAD of the other.  The hosts' wall clocks agree.  Packets
take WAY each way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skbviewer.records import Silent
from skbviewer.session import Session
from skbviewer.session.importing import Input, store_inputs
from skbviewer.store import Builder
from tests.matching.story import Story, capture
from tests.readers import build
from tests.readers.build_kbl import Ipv4, KblBuilder, SkbInfo

LEFT, RIGHT = "10.0.0.1", "10.0.0.2"
PACKETS = 20  # the odd ones (by number, from 1) from left to right, the others back
BEHIND, AHEAD = 5_000_000_000, 700_000_000
WAY, STEP = 100_000, 10_000_000
EPOCH = 1_700_000_000_000_000_007
HOST = SkbInfo(ifindex=2, netns=100)


def sent_at(number: int) -> int:
    """Return when packet `number` goes to the driver."""
    return BEHIND + number * STEP


def _ends(number: int) -> tuple[str, str]:
    return (LEFT, RIGHT) if number % 2 else (RIGHT, LEFT)


def _log(host: str, behind: int, folder: Path, hostname: str) -> Input:
    story = Story()
    story.kbl = KblBuilder(hostname=hostname.encode())
    story.lasting(EPOCH + behind)
    story.kbl.device(100, 2, "eth0")
    pid = 7 if host == LEFT else 9
    story.kbl.task(1, 0, pid, pid, "ping" if host == LEFT else "pong")
    for number in range(1, PACKETS + 1):
        source, target = _ends(number)
        skb = 0xFFFF888000000000 + number * 0x1000
        header = Ipv4(source, target, number, 17, 5, 5)
        shown: dict[str, Any] = {"pid": pid, "skbinfo": HOST, "ipv4": header}
        at = sent_at(number) - behind
        if source == host:
            story.alloc(at - 3000, skb, pid=pid)
            story.call("dev_hard_start_xmit", at, at + 500, skb, **shown)
        else:
            at += WAY
            story.alloc(at - 3000, skb, pid=pid)
            story.call("__netif_receive_skb", at, at + 2000, skb, **shown)
        story.free(at + 5000, skb, pid=pid)
    (folder / host).mkdir()
    return Input(story.log(folder / host), 1, host)


def _capture(host: str, ahead: int, folder: Path) -> Input:
    frames = []
    for number in range(1, PACKETS + 1):
        source, target = _ends(number)
        at = sent_at(number) + (0 if source == host else WAY)
        packet = build.ipv4(source, target, 17, build.udp(5, 5), number)
        frames.append((EPOCH + at + ahead, build.ethernet(packet)))
    return Input(capture(folder, frames, f"{host}.pcap"), 2, f"sniffer {host}")


def two_logs(folder: Path, names: tuple[str, str] = ("left", "right")) -> Session:
    """Return a session with these sources: the captures of left and right, then the logs."""
    inputs = [
        _capture(LEFT, 0, folder),
        _capture(RIGHT, AHEAD, folder),
        _log(LEFT, 0, folder, names[0]),
        _log(RIGHT, BEHIND, folder, names[1]),
    ]
    with Builder(folder / "a.skbv") as builder:
        store_inputs(inputs, builder, Silent())
        builder.finish()
    return Session.open(folder / "a.skbv")

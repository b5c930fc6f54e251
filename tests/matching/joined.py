# SPDX-License-Identifier: MIT
"""Small captures matched with stories: what each packet found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from skbviewer.matching import LegTable, Matches, build_kernel_side, build_legs, build_series, match
from skbviewer.records import Packets
from tests.readers import build
from tests.readers.build_kbl import Ipv4, SkbInfo

from .story import HOST, Story, udp4, udp4_frame, wire

A = 0xFFFF888000001000
OFFSET = 1_700_000_000_000_000_007  # the sniffer's clock is ahead by this
MS = 1_000_000


class Found(NamedTuple):
    packets: Packets
    legs: LegTable
    matches: Matches

    def pairs(self) -> list[tuple[int, int, int, int]]:
        """Return (packet, series, verdict, rung) without repetition."""
        rows = self.matches.rows
        series = self.legs.rows["series"][rows["leg"]].tolist()
        return sorted(
            set(
                zip(
                    rows["packet"].tolist(),
                    series,
                    rows["verdict"].tolist(),
                    rows["rung"].tolist(),
                    strict=True,
                )
            )
        )


def send(story: Story, ts: int, skb: int, ip: Ipv4 | None, info: SkbInfo = HOST) -> None:
    """A packet handed to the driver at `ts`."""
    story.alloc(ts - 100, skb)
    story.call("dev_hard_start_xmit", ts, ts + 50, skb, skbinfo=info, ipv4=ip)
    story.free(ts + 60, skb)


def sent(times: Sequence[tuple[int, Ipv4]]) -> Story:
    story = Story()
    for number, (ts, ip) in enumerate(times):
        send(story, ts, A + 0x100 * number, ip)
    return story


def join(
    folder: Path, story: Story, packets: Sequence[build.Packet], snaplen: int = 262144
) -> Found:
    """Match packets, their times given on the log's clock: the wall clock is OFFSET ahead."""
    story.lasting(OFFSET)
    log = story.log(folder)
    frames = wire(folder, [(ts + OFFSET, frame) for ts, frame in packets], snaplen)
    series = build_series(log)
    legs = build_legs(log, series)
    return Found(frames, legs, match(frames, build_kernel_side(log, series, legs)))


ANCHORS = [(MS * n, udp4(100 + n)) for n in range(1, 6)]  # packets that identity alone decides
ANCHOR_FRAMES = [(MS * n, udp4_frame(100 + n)) for n in range(1, 6)]

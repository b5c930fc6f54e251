# SPDX-License-Identifier: MIT
"""Where in its way a packet is stamped: in the packet socket's call, or on arrival before it."""

from __future__ import annotations

from pathlib import Path

from skbviewer.matching import EXACT

from .joined import A, join
from .story import HOST, SOFTIRQ, Story, udp4, udp4_frame

MS, US = 1_000_000, 1_000


def waiting(times: list[int], waits: list[int]) -> Story:
    """Packets that arrive at these times and wait so long in the backlog, ns."""
    story = Story()
    story.alloc(1, A - 0x2000)
    story.clone(2, A - 0x2000, A - 0x1000, "skb_clone")  # the log shows clones
    for number, (ts, wait) in enumerate(zip(times, waits, strict=True)):
        skb, ip, begin = A + 0x1000 * number, udp4(100 + number), ts + wait
        place = {"context": SOFTIRQ, "cpu": number % 2}
        story.alloc(ts - 2 * US, skb, **place)
        story.call("__netif_rx", ts, ts + US, skb, skbinfo=HOST, ipv4=ip, **place)
        story.enter(begin - US, "netif_receive_skb", skb, skbinfo=HOST, ipv4=ip, **place)
        story.call("tpacket_rcv", begin, begin + 8 * US, skb, skbinfo=HOST, ipv4=ip, **place)
        story.leave(begin + 9 * US, "netif_receive_skb", skb, **place)
        story.free(begin + 10 * US, skb, **place)
    return story


def test_stamps_of_calls_and_of_arrivals_may_be_in_one_file(tmp_path: Path) -> None:
    """This happens while ping runs. Four packets are stamped on arrival, so the calls do not show
    the order of the file.  The last but one waits for long and is stamped in its call, so the
    arrivals do not, either.
    """
    waits = [4 * US] * 40 + [100 * US] * 4 + [900 * US, 4 * US]
    times = [MS * (n + 1) for n in range(45)] + [45 * MS + 500 * US]
    stamps = [ts + wait + 4 * US + n for n, (ts, wait) in enumerate(zip(times, waits, strict=True))]
    stamps[40:44] = times[40:44]
    frames = sorted((ts, udp4_frame(100 + n)) for n, ts in enumerate(stamps))
    found = join(tmp_path, waiting(times, waits), frames)
    series = [*range(1, 45), 46, 45]  # behind the one that was cloned
    expected = [(n, one, EXACT) for n, one in enumerate(series)]
    assert [pair[:3] for pair in found.pairs()] == expected

# SPDX-License-Identifier: MIT
"""Captures of other hosts, and of other runs with the same addresses and identifications."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skbviewer.matching import AMBIGUOUS, EXACT
from skbviewer.matching.match_rule_numbers import UNSURE

from ..joined import MS, A, Found, join, send
from ..story import HOST, SOFTIRQ, Story, udp4, udp4_frame

COUNT, SLOW = 30, 3 * MS  # packets, and how long one is under way to the sniffer


def traffic(folder: Path, both_ways: bool, late: tuple[int, ...] = ()) -> Found:
    """Packets that this host sends, or sends and receives in turn; a sniffer elsewhere has them.

    Packets in `late` reach the sniffer too late to have been at this host.
    """
    story, frames = Story(), []
    for n in range(COUNT):
        ts, skb = 20 * MS * (n + 1), A + 0x1000 * n
        comes = both_ways and n % 2
        if comes:
            story.alloc(ts - 100, skb)
            shown: dict[str, Any] = {"skbinfo": HOST, "ipv4": udp4(n + 1), "context": SOFTIRQ}
            story.call("__netif_receive_skb", ts, ts + 50, skb, **shown)
            story.free(ts + 60, skb)
        else:
            send(story, ts, skb, udp4(n + 1))
        jitter = n % 5 * MS // 10
        there = ts - SLOW - jitter if comes else ts + SLOW + jitter
        frames.append((there + 8 * MS * (n in late) * (1 if comes else -1), udp4_frame(n + 1)))
    return join(folder, story, sorted(frames))


def verdicts(found: Found) -> set[tuple[int, int]]:
    return {(verdict, rung if verdict else 0) for *_, verdict, rung in found.pairs()}


def test_a_sniffer_elsewhere_has_packets_after_they_are_sent_and_before_they_come(
    tmp_path: Path,
) -> None:
    assert verdicts(traffic(tmp_path, both_ways=True)) == {(EXACT, 0)}


def test_packets_that_came_before_they_were_sent_are_of_another_run(tmp_path: Path) -> None:
    found = traffic(tmp_path, both_ways=True, late=(3, 6, 8, 13))
    assert verdicts(found) == {(AMBIGUOUS, UNSURE)}


def test_packets_of_one_direction_say_nothing_of_their_order(tmp_path: Path) -> None:
    assert verdicts(traffic(tmp_path, both_ways=False)) == {(AMBIGUOUS, UNSURE)}

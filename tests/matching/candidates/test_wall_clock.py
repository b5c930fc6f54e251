# SPDX-License-Identifier: MIT
"""Packets of one identity are matched by the wall clock of the log's host."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from skbviewer.matching import AMBIGUOUS, EXACT, build_kernel_side, build_legs, build_series, match

from ..story import HOST, SOFTIRQ, Story, udp4, udp4_frame, wire

A = 0xFFFF888000001000
OFFSET, MS, US = 1_700_000_000_000_000_000, 1_000_000, 1_000
CONSTANT = 7  # the identification of every packet
CLONES = 1  # lifetimes before those of the packets


def received(times: list[int]) -> Story:
    """Packets of one header that a packet socket got at these times, ns."""
    story, place, ip = Story(), {"context": SOFTIRQ}, udp4(CONSTANT)
    story.alloc(1, A - 0x2000)
    story.clone(2, A - 0x2000, A - 0x1000, "skb_clone")  # the log shows clones
    for number, ts in enumerate(times):
        skb = A + 0x1000 * number
        story.alloc(ts - 2 * US, skb, **place)
        story.enter(ts - US, "netif_receive_skb", skb, skbinfo=HOST, ipv4=ip, **place)
        story.call("tpacket_rcv", ts, ts + 8 * US, skb, skbinfo=HOST, ipv4=ip, **place)
        story.leave(ts + 9 * US, "netif_receive_skb", skb, **place)
        story.free(ts + 10 * US, skb, **place)
    return story


def verdicts(
    folder: Path, times: list[int], ahead_ns: int = 0, without: int = 0
) -> list[tuple[int, int, int]]:
    """(packet, its number among those received, verdict).

    The capture's clock is `ahead_ns` ahead of the wall clock. The capture lacks `without` packets
    at its beginning and at its end.
    """
    story = received(times)
    times = times[without : len(times) - without]
    story.lasting(OFFSET)
    log = story.log(folder)
    packets = wire(
        folder, [(ts + 4 * US + OFFSET + ahead_ns, udp4_frame(CONSTANT)) for ts in times]
    )
    series = build_series(log)
    legs = build_legs(log, series)
    rows = match(packets, build_kernel_side(log, series, legs)).rows
    owner = legs.rows["series"][rows["leg"]] - CLONES - without
    return list(zip(rows["packet"].tolist(), owner.tolist(), rows["verdict"].tolist(), strict=True))


def jittered(count: int) -> list[int]:
    rng = Random(1)
    return [MS * (n + 1) + rng.randrange(900 * US) for n in range(count)]


def test_times_that_fit_but_once_are_exact(tmp_path: Path) -> None:
    assert verdicts(tmp_path, jittered(40)) == [(n, n, EXACT) for n in range(40)]


def test_a_clock_a_little_ahead_is_never_wrong(tmp_path: Path) -> None:
    for ahead_ns in (30 * US, -30 * US, MS):
        found = verdicts(tmp_path, jittered(40), ahead_ns)
        assert all(packet == owner for packet, owner, verdict in found if verdict == EXACT)


@pytest.mark.parametrize("ahead_ns", [0, MS, -MS])
def test_a_capture_that_fits_one_packet_later_as_well_is_ambiguous(
    tmp_path: Path, ahead_ns: int
) -> None:
    """One packet each millisecond: which one was the first cannot be said."""
    found = verdicts(tmp_path, [MS * (n + 1) for n in range(40)], ahead_ns, without=3)
    assert {verdict for *_, verdict in found} == {AMBIGUOUS}


def test_a_few_packets_do_not_make_a_clock(tmp_path: Path) -> None:
    assert {verdict for *_, verdict in verdicts(tmp_path, jittered(7))} == {AMBIGUOUS}

# SPDX-License-Identifier: MIT
"""A packet whose records may have been lost has no times; every other packet has them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from skbviewer.analysis.stats import conversations_by_kind
from skbviewer.export.path_csv import annotation_lines
from skbviewer.export.path_text import path_lines, path_xml
from skbviewer.readers import KblEvent
from skbviewer.records import PacketRow
from skbviewer.session import Session
from tests.matching.story import HOST, SOFTIRQ, Story, udp4, udp4_frame

from ..test_packet_path import imported

A, B, C = (0xFFFF888000000000 + n * 0x1000 for n in (1, 2, 3))
FAR = 5_000_000_000  # ns


def sent(
    story: Story, at: int, skb: int, ip_id: int, freed: bool = True, whole: bool = True
) -> None:
    """A datagram that is sent on CPU 0 and freed there."""
    story.alloc(at, skb, pid=7)
    story.enter(at + 100, "ip_output", skb, pid=7, ipv4=udp4(ip_id), skbinfo=HOST)
    by = story.kbl.header["stext"] + 0x10000 + story.function("ip_output") * 0x1000 + 0x20
    story.call("dev_hard_start_xmit", at + 200, at + 300, skb, pid=7, caller=by)
    if freed:
        story.free(at + 250, skb, pid=7)
    if whole:
        story.leave(at + 400, "ip_output", skb, pid=7)


def frames(*at: int) -> list[tuple[int, bytes]]:
    return [(ts, udp4_frame(number)) for number, ts in enumerate(at, start=1)]


def packets(session: Session) -> list[PacketRow]:
    return session.packets.numbered(1, session.packets.count())


def times(folder: Path, story: Story, *at: int) -> list[int | None]:
    """Return the time in kernel of each datagram, by its lifetime.

    Its packet may be ambiguous: the loss may include what distinguishes lifetimes of that time.
    """
    with closing(imported(folder, story, frames(*at))) as session:
        legs = [session.paths.path(series=number).legs[0] for number in range(1, len(at) + 1)]
        assert all((leg.kernel_ns is None) == (leg.functions is None) for leg in legs)
        return [leg.kernel_ns for leg in legs]


def three(story: Story, lost: tuple[int, int] | None, cpu: int = 0) -> Story:
    """Three whole datagrams, each freed at the end, and a loss."""
    for number, skb in enumerate((A, B, C)):
        sent(story, 1000 + 10_000 * number, skb, number + 1)
    if lost:
        story.lost(lost[1], 9, lost[0], cpu)
    return story


def test_a_loss_hides_what_was_under_way_and_nothing_else(tmp_path: Path) -> None:
    story = three(Story(), (11_200, 11_240), cpu=1)  # whichever CPU: the packet may have been there
    assert times(tmp_path, story, 1200, 11_200, 21_200) == [300, None, 300]


def test_lives_that_are_whole_are_counted_beside_a_loss(tmp_path: Path) -> None:
    assert times(tmp_path, three(Story(), (5000, 9000)), 1200, 11_200, 21_200) == [300, 300, 300]


def test_every_view_says_that_records_may_be_lost(tmp_path: Path) -> None:
    story = three(Story(), (11_200, 11_240))
    with closing(imported(tmp_path, story, frames(1200, 11_200, 21_200))) as session:
        path = session.paths.path(series=2)
        (leg,) = path.legs
        assert (leg.kernel_ns, leg.functions) == (None, None)
        assert any("some of its records may have been lost" in line for line in path_lines(path))
        assert not any("us in the kernel" in line for line in path_lines(path))
        assert "kernel_ns" not in path_xml(path)
        lines = annotation_lines(path, session.sources())
        assert "total time in the kernel: some of its records may have been lost" in lines
        assert packets(session)[1].reason.startswith(
            "Records from the time of this packet are missing"
        )
        assert "Records of it" not in packets(session)[0].reason
        (row,) = conversations_by_kind(session.stats.scope())["UDP"]
        assert row.kernel_ns == 600  # of the packets that are exact


def test_an_end_among_the_lost_hides_the_life(tmp_path: Path) -> None:
    """Lives are freed on record as a rule: one that is not was cut, however long before."""
    story = Story()
    for number, skb in enumerate((A, B)):
        sent(story, 1000 + 10_000 * number, skb, number + 1)
    sent(story, 21_000, C, 3, freed=False)
    story.lost(FAR + 100, 9, FAR)
    assert times(tmp_path, story, 1200, 11_200, 21_200) == [300, 300, None]


def test_an_end_that_is_never_recorded_hides_nothing_far_from_a_loss(tmp_path: Path) -> None:
    story = Story()
    for number, skb in enumerate((A, B, C)):
        sent(story, 1000 + 10_000 * number, skb, number + 1, freed=False)
    story.lost(FAR + 100, 9, FAR)
    assert times(tmp_path, story, 1200, 11_200, 21_200) == [300, 300, 300]


def test_an_end_before_the_address_is_used_again_cannot_be_lost_later(tmp_path: Path) -> None:
    story = Story()
    for number, skb in enumerate((A, B)):
        sent(story, 1000 + 10_000 * number, skb, number + 1)
    sent(story, 21_000, C, 3, freed=False)
    story.alloc(30_000, C, pid=7)
    story.free(31_000, C, pid=7)
    story.lost(40_000, 9, 35_000)
    assert times(tmp_path, story, 1200, 11_200, 21_200) == [300, 300, 300]


def test_a_birth_among_the_lost_hides_the_life(tmp_path: Path) -> None:
    story = Story()
    for number, skb in enumerate((A, B)):
        sent(story, 1000 + 10_000 * number, skb, number + 1)
    story.lost(20_000, 9, 15_000)
    story.call("ip_output", 21_000, 21_400, C, pid=7, ipv4=udp4(3), skbinfo=HOST)
    story.call("dev_hard_start_xmit", 21_200, 21_300, C, pid=7)
    story.free(21_250, C, pid=7)
    assert times(tmp_path, story, 1200, 11_200, 21_200) == [300, 300, None]


def test_a_call_around_a_freed_packet_among_the_lost_hides_it(tmp_path: Path) -> None:
    """The call returned in the gap; only its callee's caller address shows that it was made."""
    story = Story()
    for number, skb in enumerate((A, B)):
        sent(story, 1000 + 10_000 * number, skb, number + 1)
    story.alloc(21_000, C, pid=7)
    by = story.kbl.header["stext"] + 0x10000 + story.function("ip_output") * 0x1000 + 0x20
    story.call(
        "dev_hard_start_xmit", 21_200, 21_300, C, pid=7, caller=by, ipv4=udp4(3), skbinfo=HOST
    )
    story.free(21_250, C, pid=7)
    story.lost(30_000, 9, 21_390)
    story.call("kfree_skb", 30_000, 30_010, 0, pid=7)
    found = times(tmp_path, story, 1200, 11_200, 21_200)
    assert found[:2] == [300, 300]
    assert found[2] is None


@pytest.mark.parametrize("near", [True, False])
def test_an_event_outside_of_all_calls_before_a_loss_hides_its_packet(
    tmp_path: Path, near: bool
) -> None:
    story = Story()
    for number, skb in enumerate((A, B)):
        sent(story, 1000 + 10_000 * number, skb, number + 1)
        story.event(1150 + 10_000 * number, KblEvent.QUEUE, skb, pid=7)
    story.alloc(21_000, C, pid=7)
    story.event(21_150, KblEvent.QUEUE, C, pid=7)
    story.call("dev_hard_start_xmit", 21_200, 21_300, C, pid=7, ipv4=udp4(3), skbinfo=HOST)
    story.free(21_250, C, pid=7)
    begin = 21_390 if near else FAR
    story.lost(begin + 100, 9, begin)
    assert (times(tmp_path, story, 1200, 11_200, 21_200)[2] is None) == near


def test_what_waits_in_a_socket_without_a_loss_is_counted(tmp_path: Path) -> None:
    story = three(Story(), None)
    story.call("ip_rcv", 40_000, 40_500, A, context=SOFTIRQ, ipv4=udp4(4), skbinfo=HOST)
    assert times(tmp_path, story, 1200, 11_200, 21_200, 40_100) == [300, 300, 300, 500]


def test_kernel_only_packets_have_no_number_either(tmp_path: Path) -> None:
    story = three(Story(), (11_200, 11_240))
    with closing(imported(tmp_path, story, [])) as session:
        rows = session.packets.kernel_only(1, 3)
    assert [row.kernel_ns is None for row in rows] == [False, True, False]
    assert "Some of its records may have been lost" in rows[1].reason

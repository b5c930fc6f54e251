# SPDX-License-Identifier: MIT
"""A leg is marked if the log shows that a call of it may have been missed, and only then."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from skbviewer.session import Session
from tests.matching.story import HOST, OTHER, SOFTIRQ, Story, udp4, udp4_frame

from ..test_packet_path import imported

SKB = 0xFFFF888000001000
APART = 200_000_000  # ns between two datagrams


def at(number: int) -> int:
    return number * APART


def sent(story: Story, number: int, missing: tuple[str, ...] = (), twice: bool = False) -> None:
    """A datagram that is sent and freed; `missing` are functions whose probes saw no hit."""
    begin, skb = at(number), SKB + number * 0x1000
    story.alloc(begin, skb, pid=7)
    by = story.kbl.header["stext"] + 0x10000 + story.function("ip_output") * 0x1000 + 0x20
    if "ip_output" not in missing:
        story.enter(begin + 100, "ip_output", skb, pid=7, ipv4=udp4(number), skbinfo=HOST)
    if "nf_hook_slow" not in missing:
        ip = udp4(number) if "ip_output" in missing else None
        story.call("nf_hook_slow", begin + 110, begin + 120, skb, pid=7, caller=by, ipv4=ip)
    if twice:
        story.call("nf_hook_slow", begin + 130, begin + 140, skb, pid=7, caller=by)
    if "dev_hard_start_xmit" not in missing:
        story.call("dev_hard_start_xmit", begin + 200, begin + 300, skb, pid=7, caller=by)
    story.free(begin + 250, skb, pid=7)
    if "ip_output" not in missing:
        story.leave(begin + 400, "ip_output", skb, pid=7)


def marked(folder: Path, story: Story, count: int) -> list[int]:
    """Which datagrams have a leg that is marked."""
    frames = [(at(number) + 200, udp4_frame(number)) for number in range(1, count + 1)]
    with closing(imported(folder, story, frames)) as session:
        return [number for number in range(1, count + 1) if is_marked(session, number)]


def is_marked(session: Session, number: int) -> bool:
    (leg,) = session.paths.path(packet=number).legs
    assert (leg.kernel_ns is None) == (leg.functions is None)
    return leg.kernel_ns is None


def window(story: Story, number: int, name: str, count: int = 1) -> None:
    """A hit missed in the 100 ms around a datagram."""
    story.missed(at(number) + 50_000_000, count, at(number) - 50_000_000, name)


@pytest.mark.parametrize("name", ["nf_hook_slow", "dev_hard_start_xmit"])
def test_a_leg_that_lacks_what_its_like_have_is_marked(tmp_path: Path, name: str) -> None:
    story = Story()
    for number in range(1, 6):
        sent(story, number, (name,) if number == 3 else ())
    window(story, 3, name)
    assert marked(tmp_path, story, 5) == [3]


def test_legs_that_have_all_their_calls_are_not_marked(tmp_path: Path) -> None:
    """No leg calls the function more often, so the missed hit was elsewhere."""
    story = Story()
    for number in range(1, 6):
        sent(story, number)
    window(story, 3, "nf_hook_slow")
    window(story, 4, "udp_rcv")
    assert marked(tmp_path, story, 5) == []


def test_a_leg_without_the_call_at_another_time_is_not_marked(tmp_path: Path) -> None:
    story = Story()
    for number in range(1, 6):
        sent(story, number, ("nf_hook_slow",) if number == 3 else ())
    window(story, 5, "nf_hook_slow")
    assert marked(tmp_path, story, 5) == []


def test_two_calls_of_a_function_may_be_missing(tmp_path: Path) -> None:
    story = Story()
    for number in range(1, 6):
        sent(story, number, ("nf_hook_slow",) if number == 3 else (), twice=number != 3)
    window(story, 3, "nf_hook_slow", count=2)
    assert marked(tmp_path, story, 5) == [3]


def test_a_leg_that_is_as_most_are_is_not_marked_for_a_rare_one(tmp_path: Path) -> None:
    story = Story()
    for number in range(1, 6):
        sent(story, number, () if number == 1 else ("nf_hook_slow",))
    window(story, 3, "nf_hook_slow")
    assert marked(tmp_path, story, 5) == []


def test_a_callee_shows_that_its_caller_was_missed(tmp_path: Path) -> None:
    """No other leg is like it."""
    story = Story()
    sent(story, 1)
    sent(story, 2, ("ip_output", "dev_hard_start_xmit"), twice=True)
    window(story, 2, "ip_output")
    assert marked(tmp_path, story, 2) == [2]


def test_a_lifetime_that_lacks_a_whole_leg_is_marked(tmp_path: Path) -> None:
    """Received from a veth pair, but all that the sender did after the birth was missed."""
    story = Story()
    for number in range(1, 6):
        begin, skb = at(number), SKB + number * 0x1000
        story.alloc(begin, skb, pid=7)
        if number != 3:
            story.call("ip_output", begin + 100, begin + 190, skb, skbinfo=HOST, ipv4=udp4(number))
            story.call("dev_hard_start_xmit", begin + 110, begin + 180, skb)
        story.call("ip_rcv", begin + 300, begin + 400, skb, context=SOFTIRQ, skbinfo=OTHER,
                   ipv4=udp4(number))  # fmt: skip
        story.free(begin + 500, skb, context=SOFTIRQ)
    for name in ("ip_output", "dev_hard_start_xmit"):
        window(story, 3, name)
    frames = [(at(number) + 150, udp4_frame(number)) for number in range(1, 6)]
    with closing(imported(tmp_path, story, frames)) as session:
        paths = [session.paths.path(series=number) for number in range(1, 6)]
        unknown = [any(leg.kernel_ns is None for leg in path.legs) for path in paths]
        assert unknown == [False, False, True, False, False]


def test_of_a_log_that_has_only_the_number_all_its_time_counts(tmp_path: Path) -> None:
    story = Story()
    for number in range(1, 6):
        sent(story, number, ("nf_hook_slow",) if number in (2, 3) else ())
    story.missed(0, 2, 0, "nf_hook_slow", known=False)
    assert marked(tmp_path, story, 5) == [2, 3]
